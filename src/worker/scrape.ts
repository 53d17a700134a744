// What a scrape asks somebody else: one question at a time, in bounded time, and no answer is one, too.

import { setTimeout as sleep } from 'node:timers/promises';
import { scrapeAnswerMs } from '../limits.ts';

/**
 * Makes an asker that gives undefined when there is no answer: this process still reports its own counts. After the
 * signal it asks nobody: a registry of the host's outlives its worker.
 */
export const createAsker = <T>(
  read: () => Promise<T>,
  signal: AbortSignal,
): (() => Promise<T | undefined>) => {
  let asking: Promise<T | undefined> | undefined;
  return async () => {
    if (signal.aborted) return undefined;
    asking ??= read()
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    return Promise.race([asking, sleep(scrapeAnswerMs, undefined, { ref: false })]);
  };
};
