// The server of a function of the library that works without a run: found as by runPipeline, over a connection of its own.

import { withClient, type Client } from '../../db/client.ts';
import { resolveServer } from '../../db/connect/address.ts';
import { findEtlDirectory } from '../../embedded/find-directory.ts';
import type { RunOptions } from '../options.ts';

/** Errors: those of the server, and of `work`. */
export const onServer = async <T>(
  { databaseUrl, connection, signal }: Pick<RunOptions, 'databaseUrl' | 'connection' | 'signal'>,
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const etlDirectory = findEtlDirectory(process.cwd());
  const address = await resolveServer({ databaseUrl, connection, env: process.env, etlDirectory });
  return withClient(address, work, signal);
};
