// Finds the server: a given URL or connection settings, then DATABASE_URL, then PG*, otherwise the
// embedded server.

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
  /** May hold a password: never print it. */
  readonly config: ServerConfig;
  /** `user@host:port/database`, safe to print and log. */
  readonly label: string;
  /** application_name of our sessions, whatever the URL says: we terminate sessions by name. */
  readonly sessionName: string;
  readonly embedded?: EmbeddedServer;
}

interface ResolveOptions {
  readonly databaseUrl?: string | undefined;
  readonly connection?: ConnectionOptions | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly etlDirectory: string;
}

const hostVariables = ['PGSERVICE', 'PGHOST', 'PGHOSTADDR'] as const;
const pgVariables = [...hostVariables, 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE'] as const;

/** True if the environment names a server: then the embedded server is not used. */
export const namesServer = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['DATABASE_URL']) || pgVariables.some((variable) => env[variable]);

/**
 * Addresses by configuration. Library functions pass a configuration on as option `connection`; it
 * must not be checked as settings of a user.
 */
const addresses = new WeakMap<object, ServerAddress>();

const addressOf = (config: ServerConfig, embedded?: EmbeddedServer): ServerAddress => {
  // Both are read again for each connection; mistakes are reported now.
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

/** An address from a connection string and the environment. Errors: ETL_USAGE, ETL_ENVIRONMENT. */
export const addressFromUrl = (databaseUrl: string, env: NodeJS.ProcessEnv = process.env): ServerAddress =>
  addressOf(configOf(readConnectionString(databaseUrl), env));

/**
 * An address from settings, or the one with this configuration. Errors: ETL_USAGE, ETL_ENVIRONMENT.
 */
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
 * Finds the server to work on; starts the embedded server if none is named.
 *
 * Errors: ETL_USAGE (malformed URL, two servers named), ETL_ENVIRONMENT, ETL_EMBEDDED_MISSING,
 * ETL_EMBEDDED_START, ETL_EMBEDDED_REFUSED.
 */
export const resolveServer = async (options: ResolveOptions): Promise<ServerAddress> => {
  const { connection, env, etlDirectory } = options;
  if (connection !== undefined) {
    if (options.databaseUrl === undefined) return addressFromConnection(connection, env);
    const problem = 'databaseUrl and connection exclude each other';
    throw new EtlError('ETL_USAGE', { problem, hint: 'Leave one out.' });
  }
  // An empty variable counts as unset; an empty option is probably a mistake, and refused.
  if (options.databaseUrl !== undefined) return addressFromUrl(options.databaseUrl, env);
  if (env['DATABASE_URL']) return addressFromUrl(env['DATABASE_URL'], env);
  if (namesServer(env)) return addressOf(configOf({}, env));
  refuseEmbedded(env);
  const embedded = await startEmbedded(etlDirectory);
  // The environment's variables are meant for other servers. A local server needs no TLS.
  return addressOf(configOf(readConnectionString(embedded.url), {}, { ssl: false }), embedded);
};
