// A loader in a thread of its own, so that the main thread has time for the queue and for the user.

import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { threadCloseTimeoutMs } from '../../core/limits.ts';
import type { Stops } from '../../core/stop.ts';
import { runnerOptions } from '../../pipeline/runner.ts';
import type { FileSegment, Loader, LoadListener } from '../chunk/loader.ts';
import type { LoadPlan } from '../load-plan.ts';
import { errorFrom, type PlainError } from './plain-error.ts';

/** Has the suffix of this module: .ts in the repository, .js when built. */
const threadModule = new URL(`./load-thread${extname(import.meta.url)}`, import.meta.url);

export type ToThread =
  | { readonly type: 'load'; readonly segment: FileSegment }
  | { readonly type: 'stop'; readonly how: keyof Stops }
  | { readonly type: 'close' };

type ListenerCall = {
  [Name in keyof LoadListener]: { readonly type: Name; readonly args: Parameters<LoadListener[Name]> };
}[keyof LoadListener];

export type FromThread =
  | ListenerCall
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly error: PlainError };

/** Passes requests to stop on to the thread until the returned function is called. */
const passOn = (stops: Stops, thread: Worker, say: (message: ToThread) => void): (() => void) => {
  let late: NodeJS.Timeout | undefined;
  const undo = (['drain', 'leave', 'abort'] as const).map((how) => {
    const stop = (): void => {
      say({ type: 'stop', how });
      // The thread cannot receive the request while a function of the pipeline runs endlessly.
      if (how === 'abort') late = setTimeout(() => void thread.terminate(), threadCloseTimeoutMs);
    };
    if (stops[how]?.aborted) stop();
    stops[how]?.addEventListener('abort', stop);
    return () => stops[how]?.removeEventListener('abort', stop);
  });
  return () => {
    clearTimeout(late);
    undo.forEach((remove) => remove());
  };
};

interface Running {
  readonly listener: LoadListener;
  readonly settle: (error?: unknown) => void;
  /** The error that the listener threw. It is reported once the thread has stopped. */
  refusal?: { readonly error: unknown };
}

const threadEnded = (problem: string, cause?: unknown): EtlError =>
  new EtlError('ETL_THREAD_ENDED', { problem }, cause === undefined ? {} : { cause });

export const startThreadLoader = (plan: LoadPlan): Loader => {
  const thread = new Worker(threadModule, { workerData: plan, ...runnerOptions(threadModule) });
  const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  let running: Running | undefined;
  let death: EtlError | undefined;
  const say = (message: ToThread): void => thread.postMessage(message);

  const hear = (message: FromThread): void => {
    if (running === undefined) return;
    const { listener, settle, refusal } = running;
    if (message.type === 'done') settle(refusal?.error);
    else if (message.type === 'failed')
      settle(refusal === undefined ? errorFrom(message.error) : refusal.error);
    else
      try {
        if (message.type === 'decoded') listener.decoded(...message.args);
        else if (message.type === 'chunk') listener.chunk(...message.args);
        else listener.fileEnd(...message.args);
      } catch (error) {
        // The listener calls the user's code, whose error must end the segment, not the process.
        running.refusal ??= { error };
        say({ type: 'stop', how: message.type === 'chunk' ? 'drain' : 'leave' });
      }
  };
  const die = (cause: EtlError): void => {
    death ??= cause;
    running?.settle(death);
  };
  thread.on('message', hear);
  // The thread did not catch the error: it ran out of memory, for instance.
  thread.on('error', (cause) => die(threadEnded(messageOf(cause), cause)));
  thread.on('exit', (code) => die(threadEnded(`with exit code ${code}`)));

  const load: Loader['load'] = async (segment, listener, stops) => {
    if (death !== undefined) throw death;
    const done = new Promise<void>((resolve, reject) => {
      const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
      running = { listener, settle };
    });
    say({ type: 'load', segment });
    const release = passOn(stops, thread, say);
    try {
      await done;
    } finally {
      release();
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
