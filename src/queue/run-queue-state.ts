// The state of the queue of runs. Types only, because the library exports them.

import type { RunFailure } from '../core/model.ts';

export interface AddedRun {
  readonly job: string;
  /** False when a job with the same key waits or runs already: `job` is that one. */
  readonly isNew: boolean;
}

/** The state of a queue of runs. */
export interface QueueDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly failed: number;
  /** When the job was added that has waited longest; null when none waits. */
  readonly oldestAt: Date | null;
}

/** How queues of runs stand together, and each. */
export interface RunQueueDepths extends QueueDepth {
  readonly queues: readonly (QueueDepth & { readonly queue: string })[];
}

/** The same, and what failed there before it began. */
export interface RunQueueState extends RunQueueDepths {
  /** Newest first; such runs are not in etl.run. */
  readonly failures: readonly RunFailure[];
}
