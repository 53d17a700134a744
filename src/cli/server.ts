// The server that a command uses, and whether any run can have used it.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '../db/client.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import type { Io } from './io.ts';

/** Where the embedded server of a working directory lives: that of its project, if there is one. */
export const etlDirectoryOf = async ({ workingDirectory }: Io): Promise<string> => {
  const { findEtlDirectory } = await import('../db/embedded/find-directory.ts');
  return findEtlDirectory(workingDirectory);
};

/** Says which embedded server is meant, when it is not that of the working directory itself. */
export const sayElsewhere = (
  etlDirectory: string,
  io: Io,
  say = (text: string): void => void io.stderr.write(`${text}\n`),
): void => {
  if (etlDirectory !== join(io.workingDirectory, '.etl'))
    say(`Using the embedded PostgreSQL of ${dirname(etlDirectory)} (its .etl/ is the nearest).`);
};

/** What a command was given that uses a server. */
export interface GivenServer {
  readonly io: Io;
  readonly databaseUrl: string | undefined;
}

/** A server, and whether this command has set it up: an embedded one that was not there. */
export interface OpenedServer extends ServerAddress {
  readonly isNew: boolean;
}

/**
 * Server of a command that will write: starts the embedded one if need be, and says so first, because the first
 * start takes seconds, and the directory may be the wrong one.
 */
export const openServer = async (
  { io, databaseUrl }: GivenServer,
  say = (text: string): void => void io.stderr.write(`${text}\n`),
): Promise<OpenedServer> => {
  const { namesServer, resolveServer } = await import('../db/connect/address.ts');
  if (databaseUrl !== undefined || namesServer(io.env))
    return { ...(await resolveServer({ databaseUrl, env: io.env, etlDirectory: '' })), isNew: false };
  const { refuseEmbedded } = await import('../db/embedded/refuse.ts');
  refuseEmbedded(io.env);
  const etlDirectory = await etlDirectoryOf(io);
  const isNew = !existsSync(etlDirectory);
  if (isNew)
    say(`Neither DATABASE_URL nor PG* is set: setting up an embedded PostgreSQL in ${etlDirectory} …`);
  else sayElsewhere(etlDirectory, io, say);
  return { ...(await resolveServer({ env: io.env, etlDirectory })), isNew };
};

/** Server of a command that writes nothing; undefined when none is named and no embedded one was ever started here. */
export const findServer = async (given: GivenServer): Promise<OpenedServer | undefined> => {
  const { io, databaseUrl } = given;
  const { namesServer } = await import('../db/connect/address.ts');
  const named = databaseUrl !== undefined || namesServer(io.env);
  if (!named) (await import('../db/embedded/refuse.ts')).refuseEmbedded(io.env);
  return named || existsSync(await etlDirectoryOf(io)) ? openServer(given) : undefined;
};

const onServer = async <T>(server: OpenedServer, ask: (client: Client) => Promise<T>): Promise<T> => {
  const { withClient } = await import('../db/client.ts');
  const { readOnlyPlainTables, readTrust, refuseStrange } = await import('../db/bookkeeping/trust.ts');
  return withClient(server, async (client) => {
    await readOnlyPlainTables(client);
    refuseStrange(await readTrust(client));
    return ask(client);
  });
};

/**
 * Runs `ask` on the server of a command that only reads; undefined when there is nothing to ask, because no server
 * is named and no embedded one was ever started here. Looking does not create a database.
 */
export const askServer = async <T>(
  given: GivenServer,
  ask: (client: Client) => Promise<T>,
): Promise<T | undefined> => {
  const server = await findServer(given);
  return server && onServer(server, ask);
};

/** Runs `ask` on that server, or with none: what the command finds out then comes from files alone. */
export const askAnyway = async <T>(
  given: GivenServer,
  ask: (client: Client | undefined) => Promise<T>,
): Promise<T> => {
  const server = await findServer(given);
  return server === undefined ? ask(undefined) : onServer(server, ask);
};

/** What a command that failed says of a server that it has set up: nobody might look for it there. */
export const sayNewServer = (server: OpenedServer | undefined, io: Io): void => {
  if (!server?.isNew || server.embedded === undefined) return;
  io.stderr.write(
    `note: the embedded PostgreSQL that was set up for this run keeps running, in ${server.embedded.etlDirectory};\n` +
      '  `npx etl db stop` stops it, the next run there uses it again\n',
  );
};
