// Queues in the database that is loaded into: nothing else to install.

import type * as BullMq from 'bullmq';
import type { ServerAddress } from '../db/connect/address.ts';
import { ensureSchema, isThere, withClient, withTransaction, type Client } from '../db/client.ts';
import { GuardedClient } from '../db/connect/guarded-client.ts';
import { PgPool } from '../db/connect/pg.ts';
import { retryOf } from '../db/retry.ts';
import { areSame, readTrust, refuseUntrusted, type Trust } from '../db/bookkeeping/trust.ts';
import { withPermission } from '../db/connect/server-error.ts';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import { queueQueryTimeoutMs } from '../core/limits.ts';
import type { QueueBackend, QueueLink } from './backend.ts';
import { loadBullMq } from './bullmq.ts';
import { createSocketSet, type SocketSet } from './sockets.ts';

/** Connections in the pool of a link: its statements are short. A worker opens one for LISTEN beside it. */
const poolConnections = 1;

/** Schema of BullMQ's own tables, beside our bookkeeping. */
const queueSchema = 'etl_queue';

const isCurrent = async (client: Client): Promise<boolean> => {
  const { LATEST_SCHEMA_VERSION } = loadBullMq();
  if (!(await isThere(client, `${queueSchema}.migration`))) return false;
  const found = await client.query(`select max(version) as version from ${queueSchema}.migration`);
  return found.rows[0].version >= LATEST_SCHEMA_VERSION;
};

/** Whether the schema was there when everything in it was trusted, and is still the same. */
const isKnown = async (client: Client, trust: Trust | undefined): Promise<boolean> =>
  trust?.schemas[queueSchema] !== undefined && (await areSame(client, trust, [queueSchema]));

/** Makes the schema before it is looked at: from then on nobody else can. Errors: ETL_UNTRUSTED. */
const prepareSchema = async (client: Client, trust?: Trust): Promise<void> => {
  if (!(await isKnown(client, trust))) {
    await withTransaction(client, () => ensureSchema(client, queueSchema));
    refuseUntrusted(await readTrust(client));
  }
  if (!(await isCurrent(client))) await loadBullMq().runMigrations(client, queueSchema);
};

/**
 * BullMQ's sessions find its tables by their search path, which is set once they stand: a startup parameter `options` is what PgBouncer
 * refuses. Options of the host's own (URL, PGOPTIONS) are sent as they are. Proved by test/services/queue-options.test.ts.
 */
class QueueClient extends GuardedClient {
  constructor({ config, query_timeout, stream }: ReturnType<typeof poolConfig>) {
    super(config, { name: 'sluice queue', schemas: [queueSchema] }, { query_timeout, stream });
  }
}

/** What the pool of a link and the connections beside it have in common. */
const poolConfig = ({ config }: ServerAddress, sockets: SocketSet) => ({
  config,
  connectionTimeoutMillis: config.connectionTimeoutMillis,
  max: poolConnections,
  // A query on a connection that leads nowhere must not wait for ever.
  query_timeout: queueQueryTimeoutMs,
  stream: sockets.open,
});

/**
 * BullMQ's backend over our own connections: it takes those of the pool without listening to them, and opens those by which it waits
 * beside the pool, with the driver's own class, so what it keeps to open them is replaced. It takes the schema of a pool that it is
 * given for its default one. Proved by test/services/queue-connections.test.ts and queue-options.test.ts.
 */
const backendOver =
  (listenClientConfig: ReturnType<typeof poolConfig>): BullMq.BackendFactory =>
  (...given) => {
    const { createPostgresBackend } = loadBullMq() as unknown as {
      createPostgresBackend: BullMq.BackendFactory;
    };
    const backend = createPostgresBackend(...given);
    Object.assign((backend as BullMq.PostgresQueueBackend).connection, {
      schema: queueSchema,
      pgModule: { Client: QueueClient },
      listenClientConfig,
    });
    return backend;
  };

/** One pool for all objects of a link. */
const link = (address: ServerAddress): QueueLink => {
  const sockets = createSocketSet();
  const config = poolConfig(address, sockets);
  const pool = new PgPool({ ...config, Client: QueueClient } as never);
  return {
    options: { connection: pool },
    factory: backendOver(config),
    end: async () => {
      // The pool says goodbye to the server, and does not wait for its answer.
      await pool.end();
      await sockets.closed();
    },
    destroy: () => {
      // BullMQ's objects, which hear what the pool says, may be gone.
      pool.removeAllListeners('error').on('error', () => undefined);
      sockets.destroy();
    },
  };
};

export const postgresBackend = (address: ServerAddress): QueueBackend => ({
  label: address.label,
  // A run's queue and its worker share a link.
  databaseConnectionsMax: poolConnections + 1,
  isThere: isCurrent,
  prepare: (client, trust) =>
    client === undefined ? withClient(address, (own) => prepareSchema(own)) : prepareSchema(client, trust),
  namespaceOf: () => Promise.resolve(''),
  // A copy of the database has a copy of its queue.
  claim: () => Promise.resolve(),
  // The database has its own schema for queues, and BullMQ's pool reconnects by itself.
  connect: () => link(address),
  // An error without a code is the driver's: the connection ended, or gave no answer. ECONNRESET and the like mean the same.
  errorOf: (error) => {
    const isLost = codeOf(error) === undefined || retryOf(error) === 'server';
    if (error instanceof EtlError || !isLost) return withPermission(address, error);
    const details = { server: address.label, problem: messageOf(error) };
    return new EtlError('ETL_SERVER_LOST', details, { cause: error });
  },
});
