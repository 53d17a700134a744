// What a queue needs of the server that holds it: the contract of the two backends, PostgreSQL and Redis.
//
// Both pass test/services/queue-conformance.test.ts and test/fault/queue-kill.test.ts.

import type * as BullMq from 'bullmq';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';

/**
 * The connections of a BullMQ queue, and of the worker of the same queue, made so that they can be ended when BullMQ cannot end them
 * itself.
 */
export interface QueueLink {
  /** For BullMQ's constructors. */
  readonly options: { readonly connection: BullMq.ConnectionOptions; readonly prefix?: string };
  /** Their last argument. */
  readonly factory: BullMq.BackendFactory;
  /** Ends those that BullMQ's objects have given back. */
  readonly end: () => Promise<void>;
  /** Ends all connections at once; those that are asked for later fail. */
  readonly destroy: () => void;
}

/** How a connection behaves while its server is away: a run gives up and begins again, a worker waits as long as it takes. */
export type Patience = 'gives up' | 'keeps trying';

export interface QueueBackend {
  /** Where the jobs are, fit for people and logs. */
  readonly label: string;
  /** Connections to the database that it opens at most in a process that runs a pipeline. */
  readonly databaseConnectionsMax: number;
  /** Whether queues were ever made there; asked over a connection to the database. */
  readonly isThere: (client: Client) => Promise<boolean>;
  /**
   * Makes sure that jobs can be put there, over a connection to the database if the caller has one, and what it has found there.
   * Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED; the driver's own.
   */
  readonly prepare: (client?: Client, trust?: Trust) => Promise<void>;
  /** What names this database among those that share the server; asked over a connection to it. */
  readonly namespaceOf: (client: Client) => Promise<string>;
  /** Makes sure that the jobs are not those of a copy of this database, or of its original. Errors: ETL_QUEUE_SHARED, those of `prepare`. */
  readonly claim: (client: Client, namespace: string) => Promise<void>;
  /** Opens a queue of a database: begins to connect, and asks nothing. */
  readonly connect: (namespace: string, patience: Patience) => QueueLink;
  /** What to throw for an error of BullMQ: its statements are right, so it is about the connection, or a refusal. */
  readonly errorOf: (error: unknown) => unknown;
}
