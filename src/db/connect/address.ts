// Finds the server: option, then DATABASE_URL, then PG* variables, otherwise the embedded server.

import { existsSync } from 'node:fs';
import { EtlError } from '../../core/errors/errors.ts';
import { askTimeoutMs, connectTimeoutMs } from '../../core/limits.ts';
import { allowedMethods } from './authentication.ts';
import { configOf, labelOf, type ServerConfig, type DriverSettings } from './config.ts';
import { usage, checkParameters, type Parameters } from './parameters.ts';
import type { PgClient } from './pg.ts';
import { tlsOf } from './tls.ts';
import { refuseEmbedded } from '../embedded/refuse.ts';
import { startEmbedded, type EmbeddedServer } from '../embedded/server.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { ConnectionOptions } from './connection.ts';
import { readConnectionString } from './connection-string.ts';

interface Setting {
  readonly what: string;
  readonly holds: (value: unknown) => boolean;
  readonly parameter?: string;
  readonly isDriver?: true;
}

const text = (parameter?: string): Setting => ({
  what: 'a text that is not empty',
  holds: (value) => typeof value === 'string' && value !== '',
  ...(parameter !== undefined && { parameter }),
});
const whole: Setting = {
  what: 'a whole number',
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
const flag: Setting = { what: 'true or false', holds: (value) => typeof value === 'boolean' };

const settingRules: Readonly<Record<string, Setting>> = {
  connectionString: text(),
  host: text('host'),
  port: {
    what: 'a port number',
    holds: (value) => ['number', 'string'].includes(typeof value) && /^\d{1,5}$/.test(String(value)),
    parameter: 'port',
  },
  database: text('dbname'),
  user: text('user'),
  password: {
    what: 'a text or a function',
    holds: (value) => ['string', 'function'].includes(typeof value),
  },
  ssl: {
    what: 'true, false or options of tls.connect',
    holds: (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null),
  },
  options: text('options'),
  sslnegotiation: text('sslnegotiation'),
  enableChannelBinding: flag,
  connectionTimeoutMillis: { ...whole, isDriver: true },
  keepAlive: { ...flag, isDriver: true },
  keepAliveInitialDelayMillis: { ...whole, isDriver: true },
  scramMaxIterations: { ...whole, isDriver: true },
};

/** Settings of node-postgres' pool: accepted, but ignored, because a run decides them itself. */
const withoutEffect: ReadonlySet<string> = new Set([
  'max',
  'min',
  'idleTimeoutMillis',
  'allowExitOnIdle',
  'maxUses',
  'maxLifetimeSeconds',
  'query_timeout',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'application_name',
  'fallback_application_name',
]);

const hint = 'docs/reference/library.md describes the settings of `connection`.';

const checkSetting = (name: string, value: unknown): void => {
  if (withoutEffect.has(name) || value === undefined) return;
  if (!Object.hasOwn(settingRules, name)) {
    const meant = didYouMean(name, Object.keys(settingRules));
    throw usage(`option \`connection\`: unknown setting \`${name}\`${meant}`, hint);
  }
  const { what, holds } = settingRules[name]!;
  if (!holds(value)) throw usage(`option \`connection\`: \`${name}\` must be ${what}`, hint);
};

const refuseOtherObjects = (connection: object): void => {
  const prototype: unknown = Object.getPrototypeOf(connection);
  if (prototype === null || prototype === Object.prototype) return;
  const what = 'connect' in connection ? 'a pool or a client' : 'an object of a class';
  throw usage(`option \`connection\` takes settings, not ${what}`, hint);
};

interface ReadConnection {
  readonly parameters: Parameters;
  readonly settings: DriverSettings;
}

/** Errors never repeat a value, because it may be a password. */
const readConnection = (connection: ConnectionOptions): ReadConnection => {
  refuseOtherObjects(connection);
  for (const [name, value] of Object.entries(connection)) checkSetting(name, value);
  const given = Object.entries(connection as Readonly<Record<string, unknown>>).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(settingRules, name),
  );
  const { connectionString, enableChannelBinding, ...others } = Object.fromEntries(given);
  const { password, ssl } = connection;
  const named = Object.entries(others).flatMap(([name, value]) => {
    const parameter = settingRules[name]!.parameter;
    return parameter === undefined ? [] : [[parameter, String(value)] as const];
  });
  const beside = {
    ...Object.fromEntries(named),
    ...(typeof password === 'string' && { password }),
    ...(enableChannelBinding === true && { channel_binding: 'prefer' }),
  };
  const inString = typeof connectionString === 'string' ? readConnectionString(connectionString) : {};
  const driver = Object.entries(others).filter(([name]) => settingRules[name]!.isDriver === true);
  return {
    // As in node-postgres, the connection string overrules other settings.
    parameters: { ...checkParameters(beside, 'option `connection`'), ...inString },
    settings: {
      ...Object.fromEntries(driver),
      ...(typeof password === 'function' && inString.password === undefined && { password }),
      ...(ssl !== undefined && !('sslmode' in inString || 'sslrootcert' in inString) && { ssl }),
    },
  };
};

export interface ServerAddress {
  /** May hold a password: never print it. */
  readonly config: ServerConfig;
  /** `user@host:port/database`. */
  readonly label: string;
  /** The sessions' application_name. A URL cannot set it: we find our own sessions by this name. */
  readonly sessionName: string;
  readonly embedded?: EmbeddedServer;
  /** Open connections to use first and to keep afterwards. Absent: each use opens its own. */
  readonly idle?: {
    readonly pop: () => PgClient | undefined;
    readonly push: (client: PgClient) => Promise<void>;
  };
}

interface ResolveOptions {
  readonly databaseUrl?: string | undefined;
  readonly connection?: ConnectionOptions | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly etlDirectory: string;
  /** False: an embedded server must already be there. */
  readonly creates?: boolean;
}

const hostVariables = ['PGSERVICE', 'PGHOST', 'PGHOSTADDR'] as const;
const pgVariables = [...hostVariables, 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE'] as const;

export const namesServer = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['DATABASE_URL']) || pgVariables.some((variable) => env[variable]);

/** Addresses of configurations that were checked and may come back as option `connection`. */
const addresses = new WeakMap<object, ServerAddress>();

const addressOf = (config: ServerConfig, embedded?: EmbeddedServer): ServerAddress => {
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

/** Returns the address for questions that somebody waits for, unless a timeout was given. */
export const forQuestions = (address: ServerAddress): ServerAddress =>
  address.config.connectionTimeoutMillis === connectTimeoutMs
    ? { ...address, config: { ...address.config, connectionTimeoutMillis: askTimeoutMs } }
    : address;

export const addressFromUrl = (databaseUrl: string, env: NodeJS.ProcessEnv = process.env): ServerAddress =>
  addressOf(configOf(readConnectionString(databaseUrl), env));

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
 * Finds the server's address. Starts the embedded server if no server is named. Errors: ETL_USAGE,
 * ETL_ENVIRONMENT, ETL_EMBEDDED_MISSING, ETL_EMBEDDED_START, ETL_EMBEDDED_REFUSED.
 */
export const resolveServer = async (options: ResolveOptions): Promise<ServerAddress> => {
  const { connection, env, etlDirectory } = options;
  if (connection !== undefined) {
    if (options.databaseUrl === undefined) return addressFromConnection(connection, env);
    const problem = 'databaseUrl and connection exclude each other';
    throw new EtlError('ETL_USAGE', { problem, hint: 'Leave one out.' });
  }
  // An empty variable counts as unset; an empty option is refused as a mistake.
  if (options.databaseUrl !== undefined) return addressFromUrl(options.databaseUrl, env);
  if (env['DATABASE_URL']) return addressFromUrl(env['DATABASE_URL'], env);
  if (namesServer(env)) return addressOf(configOf({}, env));
  refuseEmbedded(env);
  if (options.creates === false && !existsSync(etlDirectory))
    throw usage(
      'there is no server yet: none is named, and no .etl/ is here or above',
      'Name one with --database-url or DATABASE_URL, or run a pipeline first.',
    );
  const embedded = await startEmbedded(etlDirectory);
  // Ignores the environment, which is meant for other servers. A local server needs no TLS.
  return addressOf(configOf(readConnectionString(embedded.url), {}, { ssl: false }), embedded);
};
