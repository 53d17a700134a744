// Keeps threads that read streams. A thread may start before its first stream is known.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { runnerOptions } from '../../pipeline/runner.ts';

export interface ReadingThreads {
  readonly take: () => Worker;
  readonly give: (thread: Worker) => void;
  readonly close: () => Promise<void>;
}

/** Has the suffix of this module: .ts in the repository, .js when built. */
const threadModule = new URL(`./read-thread${extname(import.meta.url)}`, import.meta.url);

export const createReadingThreads = (eager: number): ReadingThreads => {
  const idle = new Set<Worker>();
  let isClosed = false;
  const start = (): Worker => {
    const thread = new Worker(threadModule, runnerOptions(threadModule));
    // An error after the last message must not end the process.
    thread.on('error', () => undefined);
    thread.once('exit', () => idle.delete(thread));
    return thread;
  };
  for (let count = 0; count < eager; count += 1) idle.add(start());
  return {
    take: () => {
      const [thread = start()] = idle;
      idle.delete(thread);
      return thread;
    },
    give: (thread) => {
      if (isClosed) void thread.terminate();
      else idle.add(thread);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...idle].map((thread) => thread.terminate()));
    },
  };
};
