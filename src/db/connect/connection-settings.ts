// Checks the option `connection`, and converts node-postgres' settings to libpq's parameters.

import { didYouMean } from '../../core/nearest.ts';
import type { DriverSettings } from './config.ts';
import type { ConnectionOptions } from './connection.ts';
import { readConnectionString } from './connection-string.ts';
import { checkParameters, usage, type Parameters } from './parameters.ts';

interface Setting {
  readonly what: string;
  readonly holds: (value: unknown) => boolean;
  readonly parameter?: string;
  /** True for a setting of node-postgres that libpq does not have. */
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

const settings: Readonly<Record<string, Setting>> = {
  connectionString: text(),
  host: text('host'),
  port: {
    what: 'a port number',
    // A string is accepted, because ports often come from an environment variable.
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

/**
 * Settings of a program's own pool, accepted so that it can pass them all. A run sets the number,
 * names and limits of its connections itself.
 */
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
  if (!Object.hasOwn(settings, name)) {
    const meant = didYouMean(name, Object.keys(settings));
    throw usage(`option \`connection\`: unknown setting \`${name}\`${meant}`, hint);
  }
  const { what, holds } = settings[name]!;
  if (!holds(value)) throw usage(`option \`connection\`: \`${name}\` must be ${what}`, hint);
};

const refuseOtherObjects = (connection: object): void => {
  const prototype: unknown = Object.getPrototypeOf(connection);
  if (prototype === null || prototype === Object.prototype) return;
  const what = 'connect' in connection ? 'a pool or a client' : 'an object of a class';
  throw usage(`option \`connection\` takes settings, not ${what}`, hint);
};

export interface ReadConnection {
  readonly parameters: Parameters;
  readonly settings: DriverSettings;
}

/** Checks the settings of `connection`. Errors: ETL_USAGE, which repeats no value. */
export const readConnection = (connection: ConnectionOptions): ReadConnection => {
  refuseOtherObjects(connection);
  for (const [name, value] of Object.entries(connection)) checkSetting(name, value);
  const given = Object.entries(connection as Readonly<Record<string, unknown>>).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(settings, name),
  );
  const { connectionString, enableChannelBinding, ...others } = Object.fromEntries(given);
  const { password, ssl } = connection;
  const named = Object.entries(others).flatMap(([name, value]) => {
    const parameter = settings[name]!.parameter;
    return parameter === undefined ? [] : [[parameter, String(value)] as const];
  });
  const beside = {
    ...Object.fromEntries(named),
    ...(typeof password === 'string' && { password }),
    ...(enableChannelBinding === true && { channel_binding: 'prefer' }),
  };
  const inString = typeof connectionString === 'string' ? readConnectionString(connectionString) : {};
  const driver = Object.entries(others).filter(([name]) => settings[name]!.isDriver === true);
  return {
    // The string overrules other settings, as in node-postgres.
    parameters: { ...checkParameters(beside, 'option `connection`'), ...inString },
    settings: {
      ...Object.fromEntries(driver),
      ...(typeof password === 'function' && inString.password === undefined && { password }),
      ...(ssl !== undefined && !('sslmode' in inString || 'sslrootcert' in inString) && { ssl }),
    },
  };
};
