// SIGINT and SIGTERM. The first signal finishes chunks in flight, the second stops the work at
// once, the third ends the process.

import { codeOf, EtlError, exitCodes } from '../core/errors/errors.ts';

type StopSignal = 'SIGINT' | 'SIGTERM';

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];
const exitBySignal = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/** `drain` is aborted by the first signal, `abort` by the second. */
interface StopSignals {
  readonly drain: AbortSignal;
  readonly abort: AbortSignal;
}

/** Runs `work`. Its errors after a signal become ETL_INTERRUPTED: closed connections cause many. */
export const withInterrupt = async <T>(
  onStop: (signal: StopSignal, isSecond: boolean) => void,
  work: (signals: StopSignals) => Promise<T>,
): Promise<T> => {
  const drain = new AbortController();
  const abort = new AbortController();
  let stopped: StopSignal | undefined;
  const stop = (signal: StopSignal): void => {
    if (abort.signal.aborted) process.exit(exitBySignal[signal]);
    const reason = new DOMException(signal, 'AbortError');
    onStop(signal, stopped !== undefined);
    if (stopped !== undefined) abort.abort(reason);
    stopped = signal;
    drain.abort(reason);
  };
  for (const signal of stopSignals) process.on(signal, stop);
  try {
    return await work({ drain: drain.signal, abort: abort.signal });
  } catch (cause) {
    if (stopped === undefined || codeOf(cause) === 'ETL_INTERRUPTED') throw cause;
    throw new EtlError('ETL_INTERRUPTED', { signal: stopped }, { cause });
  } finally {
    for (const signal of stopSignals) process.removeListener(signal, stop);
  }
};
