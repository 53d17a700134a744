// Readers of published tables, and the longest that one of their reads took.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A look at a table, a query of 5 ms, or a look that holds its transaction open for a second. */
export type Reading = 'glance' | 'query' | 'transaction';

/** What a reading thread is given. */
export interface ReaderData {
  readonly url: string;
  readonly tables: readonly string[];
  readonly reading: Reading;
  /** Longest time so far, in microseconds. */
  readonly longest: Int32Array<SharedArrayBuffer>;
}

export interface Reader {
  /** Forgets the longest time so far, and returns it. */
  readonly forget: () => number;
  /** Stops reading; returns the longest time of one read, in milliseconds. */
  readonly stop: () => Promise<number>;
}

/** Reads `tables`, by their names, one after the other until it is asked to stop. */
export const startReader = (url: string, tables: readonly string[], reading: Reading): Reader => {
  const longest = new Int32Array(new SharedArrayBuffer(4));
  const workerData: ReaderData = { url, tables, reading, longest };
  const thread = new Worker(new URL('programs/reader.mjs', import.meta.url), { workerData });
  const ended = once(thread, 'exit');
  return {
    forget: () => Atomics.exchange(longest, 0, 0) / 1000,
    stop: async () => {
      thread.postMessage('stop');
      await ended;
      return Atomics.load(longest, 0) / 1000;
    },
  };
};
