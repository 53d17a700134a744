// BullMQ on PostgreSQL: the one place that loads it, makes its schema, and knows its traps.

import { createRequire } from 'node:module';
import type * as BullMq from 'bullmq';
import type { ServerAddress } from '../db/address.ts';
import { GuardedClient, withClient, type Client } from '../db/client.ts';
import { queuePoolConnections, queueQueryTimeoutMs } from '../limits.ts';
import type { SocketSet } from './sockets.ts';

/** Schema of BullMQ's own tables, beside our bookkeeping. */
export const queueSchema = 'etl_queue';

/**
 * Loads BullMQ as CommonJS. Its ES modules cannot open a PostgreSQL connection by themselves (they look for `require`),
 * and take twice as long to load.
 */
export const loadBullMq = (): typeof BullMq => createRequire(import.meta.url)('bullmq') as typeof BullMq;

/** Makes or updates BullMQ's tables; one read when there is nothing to do. */
export const migrateQueue = async (address: ServerAddress): Promise<void> =>
  withClient(address, async (client) => {
    if (!(await isCurrent(client))) await loadBullMq().runMigrations(client, queueSchema);
  });

const isCurrent = async (client: Client): Promise<boolean> => {
  const { LATEST_SCHEMA_VERSION } = loadBullMq();
  const there = await client.query(`select to_regclass($1) is not null as there`, [
    `${queueSchema}.migration`,
  ]);
  if (!there.rows[0].there) return false;
  const found = await client.query(`select max(version) as version from ${queueSchema}.migration`);
  return found.rows[0].version >= LATEST_SCHEMA_VERSION;
};

/** Connection of one BullMQ object: a small pool of its own, and a LISTEN connection beside it. */
export const queueConnection = (address: ServerAddress, sockets: SocketSet): BullMq.PostgresPoolConfig => ({
  ...(address.config as BullMq.PostgresPoolConfig),
  // BullMQ takes connections out of its pool without listening to them.
  Client: GuardedClient,
  application_name: 'sluice queue',
  max: queuePoolConnections,
  // A query on a connection that leads nowhere must not wait for ever.
  query_timeout: queueQueryTimeoutMs,
  schema: queueSchema,
  stream: sockets.open,
});
