// Queues in the database that is loaded into: nothing else has to be installed.

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
import { Socket } from 'node:net';

interface SocketSet {
  /** Creates a socket of the set, for node-postgres' option `stream`. */
  readonly open: () => Socket;
  /** Resolves when all sockets are closed, so that the server has ended their sessions. */
  readonly closed: () => Promise<void>;
  /** Ends all sockets at once; later connection attempts fail. */
  readonly destroy: () => void;
}

/** Never connects. A pool calls `open` in callbacks, where a thrown error would end the process. */
const refusedSocket = (): Socket => {
  const socket = new Socket();
  socket.connect = () => socket.destroy(new Error('the queue is closed'));
  return socket;
};

export const createSocketSet = (): SocketSet => {
  const sockets = new Set<Socket>();
  let isOver = false;
  return {
    open: () => {
      // BullMQ reconnects even while it is being closed (test/services/queue-sockets.test.ts).
      if (isOver) return refusedSocket();
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    closed: async () => {
      await Promise.all(
        [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
      );
    },
    destroy: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** Our statements are short. A worker opens another connection for LISTEN. */
const poolConnections = 1;

const queueSchema = 'etl_queue';

const isCurrent = async (client: Client): Promise<boolean> => {
  const { LATEST_SCHEMA_VERSION } = loadBullMq();
  if (!(await isThere(client, `${queueSchema}.migration`))) return false;
  const found = await client.query(`select max(version) as version from ${queueSchema}.migration`);
  return found.rows[0].version >= LATEST_SCHEMA_VERSION;
};

/** True if the schema was among the checked schemas, and was not replaced since. */
const isKnown = async (client: Client, trust: Trust | undefined): Promise<boolean> =>
  trust?.schemas[queueSchema] !== undefined && (await areSame(client, trust, [queueSchema]));

/**
 * Created before the check: from then on, no untrusted role can create it. Errors: ETL_UNTRUSTED.
 */
const prepareSchema = async (client: Client, trust?: Trust): Promise<void> => {
  if (!(await isKnown(client, trust))) {
    await withTransaction(client, () => ensureSchema(client, queueSchema));
    refuseUntrusted(await readTrust(client));
  }
  if (!(await isCurrent(client))) await loadBullMq().runMigrations(client, queueSchema);
};

/**
 * The search path leads to BullMQ's tables. It is set after login, because PgBouncer refuses the
 * startup parameter `options`. Proved by test/services/queue-options.test.ts.
 */
class QueueClient extends GuardedClient {
  constructor({ config, query_timeout, stream }: ReturnType<typeof poolConfig>) {
    super(config, { name: 'sluice queue', schemas: [queueSchema] }, { query_timeout, stream });
  }
}

const poolConfig = ({ config }: ServerAddress, sockets: SocketSet) => ({
  config,
  connectionTimeoutMillis: config.connectionTimeoutMillis,
  max: poolConnections,
  // A query on a dead connection must not wait for ever.
  query_timeout: queueQueryTimeoutMs,
  stream: sockets.open,
});

/**
 * BullMQ does not listen for errors of our pool's connections, opens connections for LISTEN with a
 * client class of its own, and ignores a pool's schema. So its class and schema are replaced.
 * Proved by test/services/queue-connections.test.ts and queue-options.test.ts.
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

/** One pool for the queue and its worker. */
const link = (address: ServerAddress): QueueLink => {
  const sockets = createSocketSet();
  const config = poolConfig(address, sockets);
  const pool = new PgPool({ ...config, Client: QueueClient } as never);
  return {
    options: { connection: pool },
    factory: backendOver(config),
    end: async () => {
      // The pool sends its closing messages, and does not wait for the server to close.
      await pool.end();
      await sockets.closed();
    },
    destroy: () => {
      // BullMQ's objects, which listen for the pool's errors, may be closed already.
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
  // A copy of the database has its own copy of the queue.
  claim: () => Promise.resolve(),
  // Unused arguments: each database has its own schema, and BullMQ's pool reconnects by itself.
  connect: () => link(address),
  // An error without a code is the driver's: the connection ended, or gave no answer.
  errorOf: (error) => {
    const isLost = codeOf(error) === undefined || retryOf(error) === 'server';
    if (error instanceof EtlError || !isLost) return withPermission(address, error);
    const details = { server: address.label, problem: messageOf(error) };
    return new EtlError('ETL_SERVER_LOST', details, { cause: error });
  },
});
