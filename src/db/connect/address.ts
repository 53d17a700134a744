// Where the server is: a given URL or connection settings, then DATABASE_URL, then PG*, and with none of them the embedded server.

import { EtlError } from '../../core/errors/errors.ts';
import { allowedMethods } from './authentication.ts';
import { configOf, labelOf, type ServerConfig } from './config.ts';
import type { ConnectionOptions } from './connection.ts';
import { readConnection } from './connection-settings.ts';
import { readConnectionString } from './connection-string.ts';
import { usage } from './parameters.ts';
import { tlsOf } from './tls.ts';
import { refuseEmbedded } from '../embedded/refuse.ts';
import { startEmbedded, type EmbeddedServer } from '../embedded/server.ts';

export interface ServerAddress {
  /** May hold a password, so it is never printed. */
  readonly config: ServerConfig;
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

/** Variables that say where a server is. */
const hostVariables = ['PGSERVICE', 'PGHOST', 'PGHOSTADDR'] as const;
const pgVariables = [...hostVariables, 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE'] as const;

/** True when the environment names a server, so that no embedded one is wanted. */
export const namesServer = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['DATABASE_URL']) || pgVariables.some((variable) => env[variable]);

/**
 * Addresses by their configuration. Functions of the library pass it on to each other as `connection`: it is complete, and must not be
 * taken for settings of a host.
 */
const addresses = new WeakMap<object, ServerAddress>();

const addressOf = (config: ServerConfig, embedded?: EmbeddedServer): ServerAddress => {
  // Both are read again for each connection; what is wrong with them is reported now.
  tlsOf(config);
  allowedMethods(config.parameters);
  const address: ServerAddress = {
    config,
    sessionName: 'sluice',
    label: embedded === undefined ? labelOf(config) : `${labelOf(config)} (embedded)`,
    ...(embedded !== undefined && { embedded }),
  };
  addresses.set(config, address);
  return address;
};

/** An address from a connection string; what it leaves out is in the environment. Errors: ETL_USAGE, ETL_ENVIRONMENT. */
export const addressFromUrl = (databaseUrl: string, env: NodeJS.ProcessEnv = process.env): ServerAddress =>
  addressOf(configOf(readConnectionString(databaseUrl), env));

/** An address from connection settings, or the one whose configuration it is. Errors: ETL_USAGE, ETL_ENVIRONMENT. */
const addressFromConnection = (connection: ConnectionOptions, env: NodeJS.ProcessEnv): ServerAddress => {
  const known = addresses.get(connection);
  if (known !== undefined) return known;
  const { parameters, settings } = readConnection(connection);
  const isNamed = connection.connectionString !== undefined || Boolean(parameters.host);
  if (isNamed || hostVariables.some((variable) => env[variable]))
    return addressOf(configOf(parameters, env, settings));
  const advice = "Name one: `host: 'localhost'`, or a `connectionString`.";
  throw usage('option `connection` names no host, nor does the environment', advice);
};

/**
 * Finds the server to work on; starts the embedded one when nothing else is named.
 *
 * Errors: ETL_USAGE (malformed URL, two servers named), ETL_ENVIRONMENT, ETL_EMBEDDED_MISSING, ETL_EMBEDDED_START,
 * ETL_EMBEDDED_REFUSED.
 */
export const resolveServer = async (options: ResolveOptions): Promise<ServerAddress> => {
  const { connection, env, etlDirectory } = options;
  if (connection !== undefined) {
    if (options.databaseUrl === undefined) return addressFromConnection(connection, env);
    const problem = 'databaseUrl and connection exclude each other';
    throw new EtlError('ETL_USAGE', { problem, hint: 'Leave one out.' });
  }
  // An empty variable is an unset one; an empty option is probably a variable that is not set.
  if (options.databaseUrl !== undefined) return addressFromUrl(options.databaseUrl, env);
  if (env['DATABASE_URL']) return addressFromUrl(env['DATABASE_URL'], env);
  if (namesServer(env)) return addressOf(configOf({}, env));
  refuseEmbedded(env);
  const embedded = await startEmbedded(etlDirectory);
  // The environment is about other servers; a local socket has no TLS.
  return addressOf(configOf(readConnectionString(embedded.url), {}, { ssl: false }), embedded);
};
