// Questions of a scrape to a server or queue: one at a time, in bounded time, possibly without an answer; and the library of metrics.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as PromClient from 'prom-client';
import { scrapeAnswerMs } from '../core/limits.ts';

/** Only workers pay for it: it takes 0.05 s to load. */
export const loadPromClient = (): typeof PromClient =>
  createRequire(import.meta.url)('prom-client') as typeof PromClient;

/**
 * Makes a function that returns undefined when there is no answer, so that a scrape still reports this process's counts. After the
 * signal it asks nothing: a host's registry outlives the worker.
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
