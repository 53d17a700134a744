// Finds, starts and opens the PostgreSQL server of a command.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '../db/client.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import type { Io } from './io.ts';

export const etlDirectoryOf = async ({ workingDirectory }: Io): Promise<string> => {
  const { findEtlDirectory } = await import('../db/embedded/find-directory.ts');
  return findEtlDirectory(workingDirectory);
};

const sayOn =
  ({ stderr }: Io) =>
  (text: string): void =>
    void stderr.write(`${text}\n`);

/** Prints which embedded server is used, if its `.etl` is above the working directory. */
export const sayElsewhere = (etlDirectory: string, io: Io, say = sayOn(io)): void => {
  if (etlDirectory !== join(io.workingDirectory, '.etl'))
    say(`Using the embedded PostgreSQL of ${dirname(etlDirectory)} (its .etl/ is the nearest).`);
};

export interface GivenServer {
  readonly io: Io;
  readonly databaseUrl: string | undefined;
}

export interface OpenedServer extends ServerAddress {
  readonly isNew: boolean;
}

/**
 * Returns the server for a command that writes. If none is named, starts the embedded server, but
 * first prints its directory: the first start takes seconds, and the directory may be wrong.
 */
export const openServer = async (
  { io, databaseUrl }: GivenServer,
  say = sayOn(io),
  creates = true,
): Promise<OpenedServer> => {
  const { namesServer, resolveServer } = await import('../db/connect/address.ts');
  if (databaseUrl !== undefined || namesServer(io.env))
    return { ...(await resolveServer({ databaseUrl, env: io.env, etlDirectory: '' })), isNew: false };
  const { refuseEmbedded } = await import('../db/embedded/refuse.ts');
  refuseEmbedded(io.env);
  const etlDirectory = await etlDirectoryOf(io);
  const isNew = !existsSync(etlDirectory);
  if (isNew && creates)
    say(`Neither DATABASE_URL nor PG* is set: setting up an embedded PostgreSQL in ${etlDirectory} …`);
  else if (!isNew) sayElsewhere(etlDirectory, io, say);
  return { ...(await resolveServer({ env: io.env, etlDirectory, creates })), isNew };
};

/** Returns the server for a command that changes what earlier runs left: it creates no server. */
export const openKnownServer = (given: GivenServer): Promise<OpenedServer> =>
  openServer(given, sayOn(given.io), false);

export const findServer = async (given: GivenServer): Promise<OpenedServer | undefined> => {
  const { io, databaseUrl } = given;
  const { namesServer } = await import('../db/connect/address.ts');
  const named = databaseUrl !== undefined || namesServer(io.env);
  if (!named) (await import('../db/embedded/refuse.ts')).refuseEmbedded(io.env);
  return named || existsSync(await etlDirectoryOf(io)) ? openServer(given) : undefined;
};

/** Calls `ask`, which only reads, with a connection, or with undefined if there is no server. */
export const askAnyway = async <T>(
  given: GivenServer,
  ask: (client: Client | undefined) => Promise<T>,
): Promise<T> => {
  const server = await findServer(given);
  if (server === undefined) return ask(undefined);
  const { withClient } = await import('../db/client.ts');
  const { readOnlyPlainTables, readTrust, refuseStrange } = await import('../db/bookkeeping/trust.ts');
  const { forQuestions } = await import('../db/connect/address.ts');
  const { asServerError } = await import('../db/connect/server-error.ts');
  return withClient(forQuestions(server), async (client) => {
    await readOnlyPlainTables(client);
    refuseStrange(await readTrust(client));
    return ask(client);
  }).catch((error: unknown) => {
    throw asServerError(server, error);
  });
};

export const askServer = <T>(
  given: GivenServer,
  ask: (client: Client) => Promise<T>,
): Promise<T | undefined> => askAnyway(given, async (client) => client && ask(client));

/** Prints that the embedded server, which the failed command created, keeps running. */
export const sayNewServer = (server: OpenedServer | undefined, io: Io): void => {
  if (!server?.isNew || server.embedded === undefined) return;
  io.stderr.write(
    `note: the embedded PostgreSQL that was set up for this run keeps running, in ${server.embedded.etlDirectory};\n` +
      '  `npx etl db stop` stops it, the next run there uses it again\n',
  );
};
