// Where the server is: a given URL or connection settings, then DATABASE_URL, then PG*, and with none of them the embedded server.

import type pg from 'pg';
import { EtlError, messageOf } from '../../errors.ts';
import { connectTimeoutMs } from '../../limits.ts';
import type { ConnectionOptions } from './connection.ts';
import { PgClient } from './pg.ts';
import { serviceUrl } from './service-file.ts';
import { startEmbedded, type EmbeddedServer } from '../../embedded/server.ts';

export interface ServerAddress {
  /** For node-postgres; may hold a password, so it is never printed. */
  readonly config: pg.ClientConfig;
  /** `user@host:port/database`, fit for people and logs. */
  readonly label: string;
  /** Name of our sessions on the server. It overrules the URL's, because we terminate sessions by name. */
  readonly sessionName: string;
  /** Present when this is the embedded server. */
  readonly embedded?: EmbeddedServer;
}

interface ResolveOptions {
  readonly databaseUrl?: string | undefined;
  readonly connection?: ConnectionOptions | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The `.etl` directory that holds the embedded server. */
  readonly etlDirectory: string;
}

const pgVariables = ['PGSERVICE', 'PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE'] as const;

/** True when the environment names a server, so that no embedded one is wanted. */
export const namesServer = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['DATABASE_URL']) || pgVariables.some((variable) => env[variable]);

const commonConfig = {
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
};

/** An address from a connection string. Errors: ETL_USAGE when it is not one. */
export const addressFromUrl = (databaseUrl: string): ServerAddress => {
  const hint = 'A connection string looks like postgres://user:password@host:5432/database.';
  if (!/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new EtlError('ETL_USAGE', { problem: 'the database URL does not begin with postgres://', hint });
  try {
    return addressOf({ connectionString: databaseUrl });
  } catch (cause) {
    if (cause instanceof EtlError) throw cause;
    // The parser's message may quote the URL with its password, so only its kind is passed on.
    const problem = messageOf(cause).includes(databaseUrl)
      ? 'the database URL is not valid'
      : messageOf(cause);
    throw new EtlError('ETL_USAGE', { problem: `the database URL: ${problem}`, hint });
  }
};

const addressOf = (settings: pg.ClientConfig): ServerAddress => {
  const config = { ...commonConfig, ...settings };
  const sessionName = 'sluice';
  const { user, host, port, database } = new PgClient(config, { name: sessionName, schemas: [] });
  return { config, sessionName, label: `${user ?? ''}@${host}:${port}/${database ?? ''}` };
};

/** A host's timeouts are not meant for a COPY; the watchdog ends a connection without progress. */
const unbounded: pg.ClientConfig = {
  query_timeout: 0,
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
};

/** An address from node-postgres settings; missing ones come from PG* or its defaults. Errors: ETL_USAGE. */
const addressFromConnection = (connection: ConnectionOptions): ServerAddress => {
  const { connectionString } = connection as pg.ClientConfig;
  // node-postgres lets a URL win over settings beside it; one that is not valid is reported without its password.
  if (connectionString !== undefined) addressFromUrl(connectionString);
  return addressOf({ ...connection, ...unbounded });
};

/**
 * Finds the server to work on; starts the embedded one when nothing else is named.
 *
 * Errors: ETL_USAGE (malformed URL, two servers named), ETL_EMBEDDED_MISSING, ETL_EMBEDDED_START.
 */
export const resolveServer = async (options: ResolveOptions): Promise<ServerAddress> => {
  const { connection, env, etlDirectory } = options;
  if (connection !== undefined) {
    if (options.databaseUrl === undefined) return addressFromConnection(connection);
    const problem = 'databaseUrl and connection exclude each other';
    throw new EtlError('ETL_USAGE', { problem, hint: 'Leave one out.' });
  }
  const databaseUrl = options.databaseUrl ?? env['DATABASE_URL'];
  if (databaseUrl) return addressFromUrl(databaseUrl);
  if (env['PGSERVICE']) return addressFromUrl(serviceUrl(env['PGSERVICE'], env));
  if (namesServer(env)) return addressOf({});
  const embedded = await startEmbedded(etlDirectory);
  // A local socket has no TLS, whatever PGSSLMODE says of other servers.
  return { ...addressOf({ connectionString: embedded.url, ssl: false }), embedded };
};
