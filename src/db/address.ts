// Where the server is: a given URL, then DATABASE_URL, then PG*, and with none of them the embedded server.

import pg from 'pg';
import { EtlError, messageOf } from '../errors.ts';
import { connectTimeoutMs } from '../limits.ts';
import { serviceUrl } from './service-file.ts';
import { startEmbedded, type EmbeddedServer } from './embedded/server.ts';

export interface ServerAddress {
  /** For node-postgres; may hold a password, so it is never printed. */
  readonly config: pg.ClientConfig;
  /** `user@host:port/database`, fit for people and logs. */
  readonly label: string;
  /** Name of our sessions on the server; overrules one in the URL, because we end sessions by it. */
  readonly sessionName: string;
  /** Present when this is the embedded server. */
  readonly embedded?: EmbeddedServer;
}

interface ResolveOptions {
  readonly databaseUrl?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The `.etl` directory that holds the embedded server. */
  readonly etlDirectory: string;
}

const pgVariables = ['PGSERVICE', 'PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE'] as const;

/** True when the environment names a server, so that no embedded one is wanted. */
export const namesServer = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['DATABASE_URL']) || pgVariables.some((variable) => env[variable]);

const commonConfig = {
  application_name: 'sluice',
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
};

/** An address from a connection string. Errors: ETL_USAGE when it is not one. */
export const addressFromUrl = (databaseUrl: string): ServerAddress => {
  const hint = 'A connection string looks like postgres://user:password@host:5432/database.';
  if (!/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new EtlError('ETL_USAGE', { problem: 'the database URL does not begin with postgres://', hint });
  try {
    return addressFromConfig({ connectionString: databaseUrl });
  } catch (cause) {
    // The parser's message may quote the URL with its password, so only its kind is passed on.
    const problem = messageOf(cause).includes(databaseUrl)
      ? 'the database URL is not valid'
      : messageOf(cause);
    throw new EtlError('ETL_USAGE', { problem: `the database URL: ${problem}`, hint });
  }
};

/** An address from node-postgres settings; what is missing comes from PG* or its defaults. */
export const addressFromConfig = (settings: pg.ClientConfig): ServerAddress => {
  const config = { ...commonConfig, ...settings };
  const { user, host, port, database } = new pg.Client(config);
  return { config, sessionName: 'sluice', label: `${user ?? ''}@${host}:${port}/${database ?? ''}` };
};

/**
 * Finds the server to work on; starts the embedded one when nothing else is named.
 *
 * Errors: ETL_USAGE (malformed URL), ETL_EMBEDDED_MISSING, ETL_EMBEDDED_START.
 */
export const resolveServer = async (options: ResolveOptions): Promise<ServerAddress> => {
  const { databaseUrl = options.env['DATABASE_URL'], env, etlDirectory } = options;
  if (databaseUrl) return addressFromUrl(databaseUrl);
  if (env['PGSERVICE']) return addressFromUrl(serviceUrl(env['PGSERVICE'], env));
  if (namesServer(env)) return addressFromConfig({});
  const embedded = await startEmbedded(etlDirectory);
  return { ...addressFromUrl(embedded.url), embedded };
};
