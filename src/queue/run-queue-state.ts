// Types for the library: the state of the queues of runs.

import type { RunFailure } from '../core/model.ts';

export interface AddedRun {
  readonly job: string;
  /** False if a job with the same key is waiting or running: `job` is its id. */
  readonly isNew: boolean;
}

/** The state of one queue of runs. */
export interface QueueDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly failed: number;
  /** A paused queue starts no job. */
  readonly isPaused: boolean;
  /** When the longest waiting job was added; null: no job waits. */
  readonly oldestAt: Date | null;
}

/** The sums over all queues of runs, and the numbers of each queue. `isPaused`: one of them is. */
export interface RunQueueDepths extends QueueDepth {
  readonly queues: readonly (QueueDepth & { readonly queue: string })[];
}

export interface RunQueueState extends RunQueueDepths {
  /** Failures before a run began, newest first; they have no row in etl.run. */
  readonly failures: readonly RunFailure[];
}
