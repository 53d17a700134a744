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
  readonly open: () => Socket;
  /** Resolves when the server has ended the sessions of all sockets. */
  readonly closed: () => Promise<void>;
  readonly destroy: () => void;
}

/**
 * Returns a socket that refuses to connect. Throwing instead would end the process, because pools
 * open connections in callbacks.
 */
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

/** Connections of a pool, enough for short statements. A worker opens another one for LISTEN. */
const poolConnections = 1;

const queueSchema = 'etl_queue';

const isCurrent = async (client: Client): Promise<boolean> => {
  const { LATEST_SCHEMA_VERSION } = loadBullMq();
  if (!(await isThere(client, `${queueSchema}.migration`))) return false;
  const found = await client.query(`select max(version) as version from ${queueSchema}.migration`);
  return found.rows[0].version >= LATEST_SCHEMA_VERSION;
};

/** True if `trust` covers the schema, and the schema was not replaced since. */
const isKnown = async (client: Client, trust: Trust | undefined): Promise<boolean> =>
  trust?.schemas[queueSchema] !== undefined && (await areSame(client, trust, [queueSchema]));

/** Creates the schema, then checks its owner, so that no untrusted role can create it later. */
const prepareSchema = async (client: Client, trust?: Trust): Promise<void> => {
  if (!(await isKnown(client, trust))) {
    await withTransaction(client, () => ensureSchema(client, queueSchema));
    refuseUntrusted(await readTrust(client));
  }
  if (await isCurrent(client)) return;
  const query = (text: string, values?: unknown[]): Promise<unknown> =>
    // The server would refuse this without the privilege, even though the schema is there.
    /^create schema/i.test(text) ? Promise.resolve() : client.query(text, values);
  await loadBullMq().runMigrations({ query } as never, queueSchema);
};

/**
 * A client of BullMQ. Sets the search path after login, because PgBouncer refuses the startup
 * parameter `options`. Proved by test/services/queue-options.test.ts.
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
  query_timeout: queueQueryTimeoutMs,
  stream: sockets.open,
});

/**
 * Creates BullMQ's backend with our schema and client class: BullMQ itself ignores a pool's schema,
 * and does not listen for connection errors. Proved by test/services/queue-connections.test.ts and
 * queue-options.test.ts.
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

const link = (address: ServerAddress): QueueLink => {
  const sockets = createSocketSet();
  const config = poolConfig(address, sockets);
  const pool = new PgPool({ ...config, Client: QueueClient } as never);
  return {
    options: { connection: pool },
    factory: backendOver(config),
    // The pool opens another connection.
    isOpen: () => true,
    ping: () => Promise.resolve(),
    end: async () => {
      // pool.end() does not wait until the server has closed the connections.
      await pool.end();
      await sockets.closed();
    },
    destroy: () => {
      // Ignores errors of the pool, for which a closed BullMQ no longer listens.
      pool.removeAllListeners('error').on('error', () => undefined);
      sockets.destroy();
    },
  };
};

export const postgresBackend = (address: ServerAddress): QueueBackend => ({
  label: address.label,
  databaseConnectionsMax: poolConnections + 1,
  isThere: isCurrent,
  prepare: (client, trust) =>
    client === undefined ? withClient(address, (own) => prepareSchema(own)) : prepareSchema(client, trust),
  namespaceOf: () => Promise.resolve(''),
  // Nothing to claim: a copy of the database has its own copy of the queue.
  claim: () => Promise.resolve(),
  evictionPolicy: () => Promise.resolve(undefined),
  // Ignores its arguments: each database has its own schema, and BullMQ's pool reconnects by
  // itself.
  connect: () => link(address),
  // An error without a code is the driver's: the connection ended, or gave no answer.
  errorOf: (error) => {
    const isLost = codeOf(error) === undefined || retryOf(error) === 'server';
    if (error instanceof EtlError || !isLost) return withPermission(address, error);
    const details = { server: address.label, problem: messageOf(error) };
    return new EtlError('ETL_SERVER_LOST', details, { cause: error });
  },
});
