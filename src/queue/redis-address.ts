// The address of Redis: a URL, and whether its hosts are Sentinels or nodes of a Cluster.

import { EtlError } from '../core/errors/errors.ts';

/**
 * Options for Redis. The command line reads them from REDIS_URL, REDIS_SENTINEL,
 * REDIS_SENTINEL_PASSWORD, REDIS_CLUSTER and ETL_REDIS_PREFIX.
 */
export interface RedisOptions {
  /** `redis://[user:password@]host[:port][,host[:port]…][/database]`; rediss:// for TLS. */
  readonly url: string;
  /** Set if the hosts are Sentinels: the name of the master that they watch. */
  readonly sentinel?: string | undefined;
  /** Password of the Sentinels, if it is not that of the server. Default: none. */
  readonly sentinelPassword?: string | undefined;
  /** True if the hosts are nodes of a Cluster. */
  readonly cluster?: boolean | undefined;
  /** Prefix of this database's keys. Default: its id, which a copy of the database shares. */
  readonly prefix?: string | undefined;
  /** For rediss://: options of `tls.connect`, such as your own certificate authority. */
  readonly tls?: object | undefined;
}

export interface RedisAddress {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly tls: object | undefined;
  readonly sentinel: string | undefined;
  readonly sentinelPassword: string | undefined;
  readonly cluster: boolean;
  readonly prefix: string | undefined;
  readonly label: string;
}

const pattern =
  /^(?<scheme>rediss?):\/\/(?:(?<username>[^:@/]*)(?::(?<password>[^@]*))?@)?(?<hosts>[^/?#@]+)(?:\/(?<database>\d{1,4})?)?$/;

const hostPattern = /^(?<host>\[[\da-f:.]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/i;

const refuse = (problem: string): never => {
  const hint =
    'REDIS_URL looks like redis://user:password@host:6379/0; several hosts are joined by commas, rediss:// is TLS. In the password, write @ as %40, / as %2F and # as %23.';
  throw new EtlError('ETL_USAGE', { problem: `the Redis URL ${problem}`, hint });
};

const readHost = (text: string, defaultPort: number): RedisAddress['hosts'][number] => {
  const { host, port } = hostPattern.exec(text)?.groups ?? refuse('has an invalid host name');
  return { host: host!.replace(/^\[|\]$/g, ''), port: port === undefined ? defaultPort : Number(port) };
};

/** Matches a valid prefix, without braces: they would move keys into other slots of a Cluster. */
const prefixPattern = /^[\w.-]{1,63}$/;

const checkPrefix = (prefix: string | undefined): string | undefined => {
  if (!prefix || prefixPattern.test(prefix)) return prefix || undefined;
  throw new EtlError('ETL_USAGE', {
    problem: `the Redis prefix '${prefix}' is not valid`,
    hint: 'It has 1 to 63 letters, digits, underscores, hyphens and dots.',
  });
};

const decoded = (text: string | undefined): string | undefined => {
  try {
    return text ? decodeURIComponent(text) : undefined;
  } catch {
    return refuse('contains a % in user or password that is not written as %25');
  }
};

/** Errors: ETL_USAGE, without the URL, because it may hold a password. */
export const readRedisAddress = (options: RedisOptions): RedisAddress => {
  const { url, sentinel, sentinelPassword, cluster = false } = options;
  const { scheme, username, password, hosts, database } =
    pattern.exec(url)?.groups ?? refuse('is not of the form redis://host:port/database');
  const list = hosts!.split(',').map((text) => readHost(text, sentinel ? 26_379 : 6_379));
  if (sentinel && cluster) refuse('cannot address Sentinels and a Cluster at once');
  if (list.length > 1 && !sentinel && !cluster)
    refuse('names several hosts: set REDIS_SENTINEL or REDIS_CLUSTER');
  if (cluster && Number(database ?? 0) !== 0) refuse('names a database, and a Cluster has only database 0');
  const what = sentinel ? ` (Sentinel ${sentinel})` : cluster ? ' (Cluster)' : '';
  return {
    hosts: list,
    username: decoded(username),
    password: decoded(password),
    database: Number(database ?? 0),
    tls: scheme === 'rediss' ? (options.tls ?? {}) : undefined,
    sentinel: sentinel || undefined,
    sentinelPassword,
    cluster,
    prefix: checkPrefix(options.prefix),
    label: `Redis at ${hosts}${database ? `/${database}` : ''}${what}`,
  };
};

const truths = new Set(['1', 'true', 'yes', 'on']);

/** undefined: queues are in PostgreSQL. */
export const redisOfEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): RedisOptions | undefined =>
  env['REDIS_URL']
    ? {
        url: env['REDIS_URL'],
        sentinel: env['REDIS_SENTINEL'],
        sentinelPassword: env['REDIS_SENTINEL_PASSWORD'],
        cluster: truths.has((env['REDIS_CLUSTER'] ?? '').toLowerCase()),
        prefix: env['ETL_REDIS_PREFIX'],
      }
    : undefined;
