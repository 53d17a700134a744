// Queues in the database that is loaded into: nothing else to install.

import type * as BullMq from 'bullmq';
import type { ServerAddress } from '../db/connect/address.ts';
import {
  ensureSchema,
  GuardedClient,
  isThere,
  withClient,
  withTransaction,
  type Client,
} from '../db/client.ts';
import { retryOf } from '../db/retry.ts';
import { readTrust, refuseUntrusted } from '../db/bookkeeping/trust.ts';
import { withPermission } from '../db/server-error.ts';
import { EtlError, codeOf, messageOf } from '../errors.ts';
import { queueQueryTimeoutMs } from '../limits.ts';
import type { QueueBackend } from './backend.ts';
import { loadBullMq } from './bullmq.ts';
import { createSocketSet, type SocketSet } from './sockets.ts';

/** Connections in each of BullMQ's own pools; it opens one LISTEN connection beside them. */
const poolConnections = 2;

/** Schema of BullMQ's own tables, beside our bookkeeping. */
export const queueSchema = 'etl_queue';

const isCurrent = async (client: Client): Promise<boolean> => {
  const { LATEST_SCHEMA_VERSION } = loadBullMq();
  if (!(await isThere(client, `${queueSchema}.migration`))) return false;
  const found = await client.query(`select max(version) as version from ${queueSchema}.migration`);
  return found.rows[0].version >= LATEST_SCHEMA_VERSION;
};

/** Makes the schema before it is looked at: from then on nobody else can. Errors: ETL_UNTRUSTED. */
const prepareSchema = async (client: Client): Promise<void> => {
  await withTransaction(client, () => ensureSchema(client, queueSchema));
  refuseUntrusted(await readTrust(client));
  if (!(await isCurrent(client))) await loadBullMq().runMigrations(client, queueSchema);
};

/**
 * BullMQ's sessions find its tables by their search path, which is set once they stand: BullMQ would name its schema in the
 * startup parameter `options`, which PgBouncer refuses. Options of the host's own (URL, PGOPTIONS) are sent as they are.
 * Proved by test/integration/queue-options.test.ts.
 */
const queueClient = ({ config: { options } }: ServerAddress) =>
  class QueueClient extends GuardedClient {
    constructor(config: ServerAddress['config']) {
      // The pool hides the password from copies of its options.
      const { password } = config;
      super({ ...config, password, options }, { name: 'sluice queue', schemas: [queueSchema] });
    }
  };

/** Connection of one BullMQ object: a small pool of its own, and a LISTEN connection beside it. */
const poolConfig = (address: ServerAddress, sockets: SocketSet): BullMq.PostgresPoolConfig => ({
  ...(address.config as BullMq.PostgresPoolConfig),
  max: poolConnections,
  // A query on a connection that leads nowhere must not wait for ever.
  query_timeout: queueQueryTimeoutMs,
  schema: queueSchema,
  stream: sockets.open,
});

/**
 * BullMQ's backend over our own connections: it takes those of its pool without listening to them, and opens those by which
 * it waits beside its pool, always with the driver's own class, so the driver that it keeps is replaced. Proved by
 * test/integration/queue-connections.test.ts.
 */
const backendOver =
  (Client: ReturnType<typeof queueClient>): BullMq.BackendFactory =>
  (...given) => {
    const { createPostgresBackend } = loadBullMq() as unknown as {
      createPostgresBackend: BullMq.BackendFactory;
    };
    const backend = createPostgresBackend(...given);
    const { connection } = backend as BullMq.PostgresQueueBackend;
    Object.assign(connection.pool, { Client });
    Object.assign(connection, { pgModule: { Client } });
    return backend;
  };

export const postgresBackend = (address: ServerAddress): QueueBackend => ({
  label: address.label,
  // Pool and LISTEN connection of a run's queue and of its worker.
  databaseConnectionsMax: 2 * (poolConnections + 1),
  isThere: isCurrent,
  prepare: () => withClient(address, prepareSchema),
  namespaceOf: () => Promise.resolve(''),
  // A copy of the database has a copy of its queue.
  claim: () => Promise.resolve(),
  // The database has its own schema for queues, and BullMQ's pool reconnects by itself.
  connect: () => {
    const sockets = createSocketSet();
    return {
      options: { connection: poolConfig(address, sockets) },
      factory: backendOver(queueClient(address)),
      destroy: sockets.destroy,
    };
  },
  // An error without a code is the driver's: the connection ended, or gave no answer. ECONNRESET and the like mean the same.
  errorOf: (error) => {
    const isLost = codeOf(error) === undefined || retryOf(error) === 'server';
    if (error instanceof EtlError || !isLost) return withPermission(address, error);
    const details = { server: address.label, problem: messageOf(error) };
    return new EtlError('ETL_SERVER_LOST', details, { cause: error });
  },
});
