// A segment loader in a thread of its own, so that the main thread has time for the queue and for the user.

import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { threadCloseTimeoutMs } from '../../core/limits.ts';
import { runnerOptions } from '../../pipeline/runner.ts';
import type { SegmentTask, SegmentWatch } from '../chunk/load-segment.ts';
import type { SegmentLoader } from './segment-loader.ts';
import { errorFrom, type FromThread, type Stop, type ThreadSetup, type ToThread } from './thread-messages.ts';

/** The thread's own module: compiled beside a compiled one, TypeScript beside TypeScript. */
const threadModule = new URL(`./load-thread${extname(import.meta.url)}`, import.meta.url);

/** The segment that the thread is busy with. */
interface Running {
  readonly watch: SegmentWatch;
  readonly settle: (error?: unknown) => void;
  /** What the watch threw; reported once the thread has stopped. */
  refusal?: { readonly error: unknown };
}

const stopsOf = ({ drain, leave, abort }: SegmentWatch): readonly [Stop, AbortSignal | undefined][] => [
  ['drain', drain],
  ['leave', leave],
  ['abort', abort],
];

/** Passes the watch's signals on to the thread; returns a function that stops that. */
const passOn = (watch: SegmentWatch, say: (message: ToThread) => void): (() => void) => {
  const undo = stopsOf(watch).map(([how, signal]) => {
    const stop = (): void => say({ type: 'stop', how });
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    return () => signal?.removeEventListener('abort', stop);
  });
  return () => undo.forEach((remove) => remove());
};

/** Calls the watch; what it throws (it calls callbacks of the host) ends the segment, and not the process. */
const callWatch = (running: Running, how: Stop, say: (message: ToThread) => void, news: () => void): void => {
  try {
    news();
  } catch (error) {
    running.refusal ??= { error };
    say({ type: 'stop', how });
  }
};

const threadEnded = (problem: string, cause?: unknown): EtlError =>
  new EtlError('ETL_THREAD_ENDED', { problem }, cause === undefined ? {} : { cause });

/** Starts a thread that loads one segment at a time. */
export const startThreadLoader = (setup: ThreadSetup): SegmentLoader => {
  const thread = new Worker(threadModule, { workerData: setup, ...runnerOptions(threadModule) });
  const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  let running: Running | undefined;
  let death: EtlError | undefined;
  const say = (message: ToThread): void => thread.postMessage(message);

  const hear = (message: FromThread): void => {
    if (running === undefined) return;
    const { watch } = running;
    if (message.type === 'decoded')
      callWatch(running, 'leave', say, () => watch.onDecoded(message.bytes, message.counts));
    else if (message.type === 'fileEnd') watch.onFileEnd(message.byte);
    else if (message.type === 'chunk')
      callWatch(running, 'drain', say, () => watch.afterChunk(message.times, message.news));
    else if (running.refusal !== undefined) running.settle(running.refusal.error);
    else running.settle(message.type === 'failed' ? errorFrom(message.error) : undefined);
  };
  const die = (cause: EtlError): void => {
    death ??= cause;
    running?.settle(death);
  };
  thread.on('message', hear);
  // An error that nobody in the thread caught: out of memory, for instance.
  thread.on('error', (cause) => die(threadEnded(messageOf(cause), cause)));
  thread.on('exit', (code) => die(threadEnded(`with exit code ${code}`)));

  const load = async (task: SegmentTask, watch: SegmentWatch): Promise<void> => {
    if (death !== undefined) throw death;
    const done = new Promise<void>((resolve, reject) => {
      const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
      running = { watch, settle };
    });
    say({ type: 'load', task });
    const release = passOn(watch, say);
    // A function of the pipeline may never return: then the thread does not receive the request to stop.
    let late: NodeJS.Timeout | undefined;
    const endLate = (): void => {
      late = setTimeout(() => void thread.terminate(), threadCloseTimeoutMs);
    };
    watch.abort?.addEventListener('abort', endLate, { once: true });
    try {
      await done;
    } finally {
      release();
      watch.abort?.removeEventListener('abort', endLate);
      clearTimeout(late);
      running = undefined;
    }
  };

  const close = async (): Promise<void> => {
    if (death !== undefined) return;
    say({ type: 'close' });
    await Promise.race([gone, sleep(threadCloseTimeoutMs, undefined, { ref: false })]);
    await thread.terminate();
  };
  return { load, close };
};
