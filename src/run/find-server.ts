// Finds the server for a function of the library: from its options, DATABASE_URL and PG*, or
// embedded.

import { withClient, type Client } from '../db/client.ts';
import { resolveServer, type ServerAddress } from '../db/connect/address.ts';
import { findEtlDirectory } from '../db/embedded/find-directory.ts';
import type { RunOptions } from './options.ts';

type Named = Pick<RunOptions, 'databaseUrl' | 'connection'>;

/** `creates`: sets up an embedded server if none is named and none is there; otherwise ETL_USAGE. */
export const findServer = ({ databaseUrl, connection }: Named, creates = true): Promise<ServerAddress> => {
  const etlDirectory = findEtlDirectory(process.cwd());
  return resolveServer({ databaseUrl, connection, env: process.env, etlDirectory, creates });
};

/** Opens a connection of its own, outside a run. Errors: those of the server, and of `work`. */
export const onServer = async <T>(
  { signal, ...named }: Named & Pick<RunOptions, 'signal'>,
  work: (client: Client) => Promise<T>,
): Promise<T> => withClient(await findServer(named, false), work, signal);
