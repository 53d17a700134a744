// Queues in Redis: one server, a server watched by Sentinels, or a Cluster.

import { createRequire } from 'node:module';
import type * as IoRedis from 'ioredis';
import { codeOf, EtlError, isSqlState, messageOf } from '../core/errors/errors.ts';
import {
  connectTimeoutMs,
  queueQueryTimeoutMs,
  redisAttemptsMax,
  redisRetryMsMax,
  redisRetryStepMs,
} from '../core/limits.ts';
import type { Patience, QueueBackend, QueueLink } from './backend.ts';
import { loadBullMq } from './bullmq.ts';
import { claimQueue, databaseIdentity, type MarkStore } from './queue-owner.ts';
import type { RedisAddress } from './redis-address.ts';

type RedisClient = IoRedis.Redis | IoRedis.Cluster;

/** Loads ioredis on demand, and as CommonJS, like BullMQ. */
const loadIoRedis = (): typeof IoRedis => createRequire(import.meta.url)('ioredis') as typeof IoRedis;

const pauseBefore =
  (patience: Patience) =>
  (times: number): number | null =>
    patience === 'gives up' && times > redisAttemptsMax
      ? null
      : Math.min(times * redisRetryStepMs, redisRetryMsMax);

const nodeOptions = (
  { username, password, tls }: RedisAddress,
  patience: Patience,
): IoRedis.CommonRedisOptions & object => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  ...(tls !== undefined && { tls }),
  connectTimeout: connectTimeoutMs,
  // Longer than BullMQ's longest command, which waits ten seconds.
  socketTimeout: queueQueryTimeoutMs,
  // BullMQ requires null: commands wait for a connection. retryStrategy limits reconnecting.
  maxRetriesPerRequest: null,
  retryStrategy: pauseBefore(patience),
});

/**
 * Ends the timer of `socketTimeout` with its connection. ioredis does not: it would keep the process
 * alive for that time, or cut the next connection of the client.
 */
const endingTimers = <Client extends RedisClient>(client: Client): Client => {
  const node = client as { socketTimeoutTimer?: NodeJS.Timeout | undefined };
  client.on('close', () => {
    clearTimeout(node.socketTimeoutTimer);
    node.socketTimeoutTimer = undefined;
  });
  // Each node of a Cluster has a client.
  client.on('+node', endingTimers);
  return client;
};

const createClient = (address: RedisAddress, patience: Patience): RedisClient => {
  const { hosts, cluster, sentinel, sentinelPassword, database, tls } = address;
  const { Redis, Cluster } = loadIoRedis();
  const node = nodeOptions(address, patience);
  if (cluster)
    return new Cluster([...hosts], {
      redisOptions: node,
      clusterRetryStrategy: pauseBefore(patience),
      // Keeps host names, because certificates contain the name of the host and not its address.
      ...(tls !== undefined && { dnsLookup: (name, callback) => callback(null, name) }),
    });
  if (sentinel === undefined) return new Redis({ ...node, ...hosts[0], db: database });
  return new Redis({
    ...node,
    db: database,
    sentinels: [...hosts],
    name: sentinel,
    sentinelRetryStrategy: pauseBefore(patience),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls !== undefined && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  });
};

const openRedis = (address: RedisAddress, patience: Patience): RedisClient =>
  endingTimers(createClient(address, patience));

/** Codes of errors while Redis is starting, failing over, or cut off. An error begins with one. */
const transientRefusals = new Set([
  'LOADING', // reading its file
  'MASTERDOWN', // a replica without its master
  'CLUSTERDOWN', // slots without a node
  'TRYAGAIN', // slots are being moved
  'READONLY', // demoted to a replica
  'UNBLOCKED', // demoted while a command waited
  'BUSY', // running a script
]);

const isRefusal = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

const permanentRefusal = (label: string, error: unknown): EtlError | undefined => {
  if (!isRefusal(error)) return undefined;
  const [code = ''] = error.message.split(' ', 1);
  return transientRefusals.has(code)
    ? undefined
    : new EtlError('ETL_QUEUE_REFUSED', { queue: label, problem: error.message }, { cause: error });
};

/** A Cluster hides the cause of an error in `lastNodeError`. */
const withRedis = async <T>(address: RedisAddress, use: (client: RedisClient) => Promise<T>): Promise<T> => {
  const client = openRedis(address, 'gives up');
  let last: unknown;
  client.on('error', (error: Error & { lastNodeError?: Error }) => (last = error.lastNodeError ?? error));
  try {
    return await use(client);
  } catch (error) {
    if (error instanceof EtlError || isSqlState(codeOf(error))) throw error;
    const cause = isRefusal(error) ? error : (last ?? error);
    const { label } = address;
    throw (
      permanentRefusal(label, cause) ??
      new EtlError('ETL_QUEUE_CONNECT', { queue: label, problem: messageOf(cause) }, { cause })
    );
  } finally {
    client.disconnect();
  }
};

/** Prefix of all keys. The braces put them into one hash slot, which a Cluster requires. */
const keyPrefix = (namespace: string): string => `{etl-${namespace}}`;

const aliveSeconds = 60;

const swapScript = `
  if (redis.call('get', KEYS[1]) or '') ~= ARGV[1] then return 0 end
  redis.call('set', KEYS[1], ARGV[2])
  return 1`;

const markStore = (redis: RedisClient, { label }: RedisAddress, namespace: string): MarkStore => {
  const key = `${keyPrefix(namespace)}:owner`;
  return {
    label,
    key,
    read: () => redis.get(key),
    swap: async (before, next) => (await redis.eval(swapScript, 1, key, before ?? '', next)) === 1,
  };
};

const link = (address: RedisAddress, namespace: string, patience: Patience): QueueLink => {
  const clients = new Set<RedisClient>();
  let isOver = false;
  const track = <Client extends RedisClient>(client: Client): Client => {
    clients.add(client);
    // Without a listener, an error would end the process; BullMQ does not listen all the time.
    client.on('error', () => undefined);
    client.once('end', () => clients.delete(client));
    const duplicate = (client.duplicate as (...given: unknown[]) => RedisClient).bind(client);
    Object.assign(client, { duplicate: (...given: unknown[]) => track(endingTimers(duplicate(...given))) });
    if (isOver) client.disconnect();
    return client;
  };
  const destroy = (): void => {
    isOver = true;
    for (const client of clients) client.disconnect();
  };
  const connection = track(openRedis(address, patience));
  return {
    options: { connection, prefix: keyPrefix(namespace) },
    isOpen: () => connection.status === 'ready',
    // Writes, because a Redis that is full or read-only answers, and moves no jobs.
    ping: () => connection.set(`${keyPrefix(namespace)}:alive`, '', 'EX', aliveSeconds),
    factory: loadBullMq().createRedisBackend,
    end: async () => {
      const ended = Array.from(clients, (client) => new Promise((resolve) => client.once('end', resolve)));
      destroy();
      await Promise.all(ended);
    },
    destroy,
  };
};

export const redisBackend = (address: RedisAddress): QueueBackend => ({
  label: address.label,
  databaseConnectionsMax: 0,
  isThere: () => Promise.resolve(true),
  prepare: () => withRedis(address, async (redis) => void (await redis.ping())),
  namespaceOf: (client) =>
    address.prefix === undefined ? databaseIdentity(client) : Promise.resolve(address.prefix),
  claim: (client, namespace) =>
    withRedis(address, (redis) => claimQueue(client, markStore(redis, address, namespace), namespace)),
  evictionPolicy: () =>
    withRedis(address, async (redis) => /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1]),
  connect: (namespace, patience) => link(address, namespace, patience),
  errorOf: (error) =>
    error instanceof EtlError
      ? error
      : (permanentRefusal(address.label, error) ??
        new EtlError(
          'ETL_QUEUE_LOST',
          { queue: address.label, problem: messageOf(error) },
          { cause: error },
        )),
});
