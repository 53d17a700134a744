// Queries a server for Prometheus metrics, with a timeout; loads prom-client.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as PromClient from 'prom-client';
import { scrapeAnswerMs } from '../core/limits.ts';

/** Loads prom-client on demand, because that takes 0.05 s. */
export const loadPromClient = (): typeof PromClient =>
  createRequire(import.meta.url)('prom-client') as typeof PromClient;

const checkMs = 200;

/** Resolves when the answer is late, or the server is known not to answer. */
const untilLate = async (isWell: () => boolean, isAnswered: () => boolean): Promise<undefined> => {
  const end = performance.now() + scrapeAnswerMs;
  while (isWell() && !isAnswered() && performance.now() < end)
    await sleep(checkMs, undefined, { ref: false });
};

/**
 * Returns a function that calls `read`, and returns undefined if the answer is late: a scrape must
 * still report this process's counts. Calls nothing while the server is not well, nor after
 * `signal` is aborted, because a host's registry outlives the worker.
 */
export const createAsker = <T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  isWell: () => boolean,
): (() => Promise<T | undefined>) => {
  let asking: Promise<T | undefined> | undefined;
  return async () => {
    if (signal.aborted || !isWell()) return undefined;
    asking ??= read()
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    return Promise.race([asking, untilLate(isWell, () => asking === undefined)]);
  };
};
