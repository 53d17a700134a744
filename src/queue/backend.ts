// The contract of the queue backends, PostgreSQL and Redis. Both pass
// test/services/queue-conformance.test.ts and test/fault/queue-kill.test.ts.

import type * as BullMq from 'bullmq';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';

export interface QueueLink {
  readonly options: { readonly connection: BullMq.ConnectionOptions; readonly prefix?: string };
  readonly factory: BullMq.BackendFactory;
  /** Waits until BullMQ's connections are closed. */
  readonly end: () => Promise<void>;
  /** For connections that BullMQ cannot close; later attempts to connect fail. */
  readonly destroy: () => void;
}

/** While the queue's server is down, a run gives up and starts over; a worker keeps trying. */
export type Patience = 'gives up' | 'keeps trying';

export interface QueueBackend {
  readonly label: string;
  /** Connections of a process that runs a pipeline. */
  readonly databaseConnectionsMax: number;
  /** True if queues were ever created there. */
  readonly isThere: (client: Client) => Promise<boolean>;
  /** Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED; the driver's own. */
  readonly prepare: (client?: Client, trust?: Trust) => Promise<void>;
  /** Distinguishes databases whose queues are on the same server. */
  readonly namespaceOf: (client: Client) => Promise<string>;
  /**
   * Refuses queues that a copy of this database uses. Errors: ETL_QUEUE_SHARED, those of `prepare`.
   */
  readonly claim: (client: Client, namespace: string) => Promise<void>;
  readonly connect: (namespace: string, patience: Patience) => QueueLink;
  /** BullMQ's statements are correct, so an error means a lost or refused connection. */
  readonly errorOf: (error: unknown) => unknown;
}
