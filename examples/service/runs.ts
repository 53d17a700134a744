// The runs of this service: started by name, followed by any number of viewers, ended with the service.

import { EventEmitter, once } from 'node:events';
import { EtlError, runPipeline, type Pipeline, type RunEvent, type RunOptions } from 'sluice';

/** Runs and events that are kept for viewers who come late; etl.run has all of them. */
const runsKept = 20;
const eventsKept = 1_000;

/** What a viewer gets: the events of a run, then how it ended. */
export type RunNews =
  | RunEvent
  | { readonly type: 'failed'; readonly code: string; readonly message: string; readonly hint: string };

export interface FollowedRun {
  readonly id: number;
  readonly pipeline: string;
  /** The news from number `from` on, those to come included, until the run has ended or the viewer leaves. */
  readonly follow: (from: number, left: AbortSignal) => AsyncGenerator<{ number: number; news: RunNews }>;
  readonly stop: () => void;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
}

const start = (id: number, pipeline: Pipeline, options: RunOptions): FollowedRun => {
  const kept: { number: number; news: RunNews }[] = [];
  const viewers = new EventEmitter().setMaxListeners(0);
  const stopping = new AbortController();
  let hasEnded = false;
  let count = 0;
  const tell = (news: RunNews): void => {
    kept.push({ number: count, news });
    count += 1;
    if (kept.length > eventsKept) kept.shift();
    viewers.emit('news');
  };

  const running = async (): Promise<void> => {
    try {
      await runPipeline(pipeline, { ...options, onEvent: tell, signal: stopping.signal });
    } catch (error) {
      if (!(error instanceof EtlError)) throw error;
      const { code, message, hint } = error;
      tell({ type: 'failed', code, message, hint });
    } finally {
      hasEnded = true;
      viewers.emit('news');
    }
  };

  const follow: FollowedRun['follow'] = async function* (from, left) {
    let next = from;
    while (!left.aborted) {
      for (const each of kept.filter(({ number }) => number >= next)) {
        yield each;
        next = each.number + 1;
      }
      if (next < count) continue;
      if (hasEnded) return;
      // A viewer who leaves ends the waiting; that is no error.
      await once(viewers, 'news', { signal: left }).catch(() => undefined);
    }
  };
  const stop = (): void => stopping.abort(new Error('a request'));
  return { id, pipeline: pipeline.name, follow, stop, ended: running() };
};

export interface Runs {
  readonly start: (pipeline: Pipeline, options: RunOptions) => FollowedRun;
  readonly find: (id: number) => FollowedRun | undefined;
}

export const createRuns = (): Runs => {
  const runs = new Map<number, FollowedRun>();
  let count = 0;
  return {
    start: (pipeline, options) => {
      count += 1;
      const run = start(count, pipeline, options);
      runs.set(run.id, run);
      runs.delete(count - runsKept);
      return run;
    },
    find: (id) => runs.get(id),
  };
};
