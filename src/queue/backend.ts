// The contract of the queue backends, PostgreSQL and Redis. Both pass
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
  /** Waits until connections are closed that BullMQ no longer uses. */
  readonly end: () => Promise<void>;
  /** Ends all connections at once; later attempts to connect fail. */
  readonly destroy: () => void;
}

/** While the queue's server is down, a run gives up and starts over; a worker keeps trying. */
export type Patience = 'gives up' | 'keeps trying';

export interface QueueBackend {
  /** Location of the jobs, safe to print. */
  readonly label: string;
  /** Connections of a queue in a process that runs a pipeline. */
  readonly databaseConnectionsMax: number;
  /** True if queues were ever created. `client` is connected to the database. */
  readonly isThere: (client: Client) => Promise<boolean>;
  /**
   * Makes sure that jobs can be added. `trust`: what `client` found in the database. Errors:
   * ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED; the driver's own.
   */
  readonly prepare: (client?: Client, trust?: Trust) => Promise<void>;
  /** Distinguishes this database from others whose queues are on the same server. */
  readonly namespaceOf: (client: Client) => Promise<string>;
  /**
   * Refuses queues that a copy of this database, or its original, uses. Errors: ETL_QUEUE_SHARED,
   * those of `prepare`.
   */
  readonly claim: (client: Client, namespace: string) => Promise<void>;
  /** Sends no commands. */
  readonly connect: (namespace: string, patience: Patience) => QueueLink;
  /**
   * Converts BullMQ's errors: its statements are correct, so the connection was lost or refused.
   */
  readonly errorOf: (error: unknown) => unknown;
}
