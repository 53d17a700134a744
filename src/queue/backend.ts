// The contract of the two queue backends, PostgreSQL and Redis. Both pass
// test/services/queue-conformance.test.ts and test/fault/queue-kill.test.ts.

import type * as BullMq from 'bullmq';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';

/** Connections of a queue and its worker, which we can end if BullMQ cannot. */
export interface QueueLink {
  /** For BullMQ's constructors. */
  readonly options: { readonly connection: BullMq.ConnectionOptions; readonly prefix?: string };
  /** Last argument of BullMQ's constructors. */
  readonly factory: BullMq.BackendFactory;
  /** Ends the connections that BullMQ's objects have returned. */
  readonly end: () => Promise<void>;
  /** Ends all connections at once; later connection attempts fail. */
  readonly destroy: () => void;
}

/** While its server is down, a run gives up and starts over, a worker keeps waiting. */
export type Patience = 'gives up' | 'keeps trying';

export interface QueueBackend {
  /** Location of the jobs, safe to print and log. */
  readonly label: string;
  /** Maximum for a queue in a process that runs a pipeline. */
  readonly databaseConnectionsMax: number;
  /** True if queues were ever created there. `client` is connected to the database. */
  readonly isThere: (client: Client) => Promise<boolean>;
  /**
   * Makes sure that jobs can be added. `client` is connected to the database, and `trust` is what
   * it found there. Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED; the driver's own.
   */
  readonly prepare: (client?: Client, trust?: Trust) => Promise<void>;
  /** Names this database among those that share the queue's server. */
  readonly namespaceOf: (client: Client) => Promise<string>;
  /**
   * Refuses the jobs of a copy of this database, or of its original. Errors: ETL_QUEUE_SHARED,
   * those of `prepare`.
   */
  readonly claim: (client: Client, namespace: string) => Promise<void>;
  /** Starts to connect, and sends no commands. */
  readonly connect: (namespace: string, patience: Patience) => QueueLink;
  /** BullMQ's statements are correct: an error means a lost connection or a refusal. */
  readonly errorOf: (error: unknown) => unknown;
}
