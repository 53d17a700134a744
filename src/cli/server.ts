// The server that a command works on, and whether there can be anything on it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Client } from '../db/client.ts';
import type { ServerAddress } from '../db/address.ts';
import { flag, parseString, readFlag } from './flags.ts';
import type { Io } from './io.ts';

/** Where the embedded server of a working directory lives. */
export const etlDirectoryOf = ({ workingDirectory }: Io): string => join(workingDirectory, '.etl');

/** The flag that every command with a server has. */
export const databaseUrlFlag = () =>
  flag(
    '--database-url <url>',
    'server to work on; default: DATABASE_URL, then PG*, then the embedded server',
  );

/**
 * Server of a command that will write: starts the embedded one if need be, and says so first, because the first
 * start takes seconds.
 */
export const openServer = async (
  command: Command,
  io: Io,
  say: (text: string) => void = () => undefined,
): Promise<ServerAddress> => {
  const { namesServer, resolveServer } = await import('../db/address.ts');
  const databaseUrl = readFlag(command, 'databaseUrl', parseString, io);
  if (databaseUrl === undefined && !namesServer(io.env) && !existsSync(etlDirectoryOf(io)))
    say('No DATABASE_URL and no PG* is set: setting up an embedded PostgreSQL in .etl/ …');
  return resolveServer({ databaseUrl, env: io.env, etlDirectory: etlDirectoryOf(io) });
};

/**
 * Runs `ask` on the server of a command that only reads; undefined when there is nothing to ask, because no server
 * is named and no embedded one was ever started here. Looking does not create a database.
 */
export const askServer = async <T>(
  command: Command,
  io: Io,
  ask: (client: Client) => Promise<T>,
): Promise<T | undefined> => {
  const { namesServer } = await import('../db/address.ts');
  const named = readFlag(command, 'databaseUrl', parseString, io) !== undefined || namesServer(io.env);
  if (!named && !existsSync(etlDirectoryOf(io))) return undefined;
  const { withClient } = await import('../db/client.ts');
  return withClient(await openServer(command, io), ask);
};
