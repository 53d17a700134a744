// The contract of the queue backends, PostgreSQL and Redis. Both pass
// test/services/queue-conformance.test.ts and test/fault/queue-kill.test.ts.

import type * as BullMq from 'bullmq';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';

export interface QueueLink {
  readonly options: { readonly connection: BullMq.ConnectionOptions; readonly prefix?: string };
  readonly factory: BullMq.BackendFactory;
  /** False if the connection has ended; the next question would fail. */
  readonly isOpen: () => boolean;
  /** Resolves when the queues' server takes writes. The database is watched elsewhere. */
  readonly ping: () => Promise<unknown>;
  /** Waits until BullMQ's connections are closed. */
  readonly end: () => Promise<void>;
  /** Cuts connections that BullMQ cannot close; later attempts to connect fail. */
  readonly destroy: () => void;
}

/** Behaviour while the queue's server is down: a run gives up, a worker keeps trying. */
export type Patience = 'gives up' | 'keeps trying';

export interface QueueBackend {
  readonly label: string;
  readonly databaseConnectionsMax: number;
  readonly isThere: (client: Client) => Promise<boolean>;
  /** Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED; those of the driver. */
  readonly prepare: (client?: Client, trust?: Trust) => Promise<void>;
  /** Text that distinguishes databases whose queues are on the same server. */
  readonly namespaceOf: (client: Client) => Promise<string>;
  /**
   * Refuses queues that a copy of this database uses. Errors: ETL_QUEUE_SHARED, those of `prepare`.
   */
  readonly claim: (client: Client, namespace: string) => Promise<void>;
  /** Redis's name of the keys that it deletes when its memory is full. Errors: those of `prepare`. */
  readonly evictionPolicy: () => Promise<string | undefined>;
  readonly connect: (namespace: string, patience: Patience) => QueueLink;
  /** Converts an error of BullMQ to ours: a lost or refused connection. */
  readonly errorOf: (error: unknown) => unknown;
}
