// Types for the library: the state of the queues of runs.

import type { RunFailure } from '../core/model.ts';

/** The result of adding a run to a queue. */
export interface AddedRun {
  /** Id of the job on the queue. */
  readonly job: string;
  /** False if a job with the same key is waiting or running: `job` is its id. */
  readonly isNew: boolean;
}

/** The state of one queue of runs. */
export interface QueueDepth {
  /** Jobs that the next free worker takes, with and without a priority. */
  readonly waiting: number;
  /** Jobs that wait for a time: that of their option `at`, or of the next attempt. */
  readonly delayed: number;
  /** Jobs whose run a worker coordinates now. */
  readonly active: number;
  /** Jobs whose run failed, as far as the queue keeps them. */
  readonly failed: number;
  /** A paused queue starts no job. */
  readonly isPaused: boolean;
  /** When the longest waiting job was added; null: no job waits. */
  readonly oldestAt: Date | null;
}

/** The sums over all queues of runs, and the numbers of each queue. `isPaused`: one of them is. */
export interface RunQueueDepths extends QueueDepth {
  /** The state of each queue. */
  readonly queues: readonly (QueueDepth & {
    /** Name of the queue. */
    readonly queue: string;
  })[];
}

/** The state of all queues of runs, or of one: the result of queueState. */
export interface RunQueueState extends RunQueueDepths {
  /** Failures before a run began, newest first; they have no row in etl.run. */
  readonly failures: readonly RunFailure[];
}
