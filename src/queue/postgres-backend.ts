// Queues in the database that is loaded into: nothing else to install.

import type * as BullMq from 'bullmq';
import type { ServerAddress } from '../db/address.ts';
import { GuardedClient, withClient, type Client } from '../db/client.ts';
import { withPermission } from '../db/server-error.ts';
import { EtlError, codeOf, messageOf } from '../errors.ts';
import { queuePoolConnections, queueQueryTimeoutMs } from '../limits.ts';
import type { QueueBackend } from './backend.ts';
import { loadBullMq } from './bullmq.ts';
import { createSocketSet, type SocketSet } from './sockets.ts';

/** Schema of BullMQ's own tables, beside our bookkeeping. */
export const queueSchema = 'etl_queue';

const isCurrent = async (client: Client): Promise<boolean> => {
  const { LATEST_SCHEMA_VERSION } = loadBullMq();
  const there = await client.query(`select to_regclass($1) is not null as there`, [
    `${queueSchema}.migration`,
  ]);
  if (!there.rows[0].there) return false;
  const found = await client.query(`select max(version) as version from ${queueSchema}.migration`);
  return found.rows[0].version >= LATEST_SCHEMA_VERSION;
};

/**
 * The address with its server options apart from the URL: in the URL they would win over those of BullMQ, which finds its
 * tables by them. Proved by test/integration/queue-options.test.ts.
 */
const withOptionsApart = ({ config }: ServerAddress): ServerAddress['config'] => {
  const [base = '', query = ''] = (config.connectionString ?? '').split('?');
  const parameters = new URLSearchParams(query);
  const options = parameters.get('options') ?? config.options ?? process.env['PGOPTIONS'];
  parameters.delete('options');
  return {
    ...config,
    ...(config.connectionString !== undefined && { connectionString: `${base}?${parameters.toString()}` }),
    ...(options !== undefined && { options }),
  };
};

/** Connection of one BullMQ object: a small pool of its own, and a LISTEN connection beside it. */
const poolConfig = (address: ServerAddress, sockets: SocketSet): BullMq.PostgresPoolConfig => ({
  ...(withOptionsApart(address) as BullMq.PostgresPoolConfig),
  // BullMQ takes connections out of its pool without listening to them; those by which it waits see `guardedBackend`.
  Client: GuardedClient,
  application_name: 'sluice queue',
  max: queuePoolConnections,
  // A query on a connection that leads nowhere must not wait for ever.
  query_timeout: queueQueryTimeoutMs,
  schema: queueSchema,
  stream: sockets.open,
});

/**
 * BullMQ's backend, whose LISTEN connections are guarded, too: it opens them beside its pool and always with the driver's
 * own class, so the driver that it keeps is replaced. Proved by test/integration/queue-connections.test.ts.
 */
const guardedBackend: BullMq.BackendFactory = (...given) => {
  const { createPostgresBackend } = loadBullMq() as unknown as {
    createPostgresBackend: BullMq.BackendFactory;
  };
  const backend = createPostgresBackend(...given);
  Object.assign((backend as BullMq.PostgresQueueBackend).connection, { pgModule: { Client: GuardedClient } });
  return backend;
};

export const postgresBackend = (address: ServerAddress): QueueBackend => ({
  label: address.label,
  // One read when there is nothing to do.
  prepare: () =>
    withClient(address, async (client) => {
      if (!(await isCurrent(client))) await loadBullMq().runMigrations(client, queueSchema);
    }),
  namespaceOf: () => Promise.resolve(''),
  // The database has its own schema for queues, and BullMQ's pool connects anew by itself.
  connect: () => {
    const sockets = createSocketSet();
    return {
      options: { connection: poolConfig(address, sockets) },
      factory: guardedBackend,
      destroy: sockets.destroy,
    };
  },
  // An error without a code is the driver's: the connection ended, or gave no answer.
  errorOf: (error) =>
    error instanceof EtlError || codeOf(error) !== undefined
      ? withPermission(address, error)
      : new EtlError(
          'ETL_SERVER_LOST',
          { server: address.label, problem: messageOf(error) },
          { cause: error },
        ),
});
