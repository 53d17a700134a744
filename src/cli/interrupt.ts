// SIGINT and SIGTERM: the first stops the work gracefully, the second ends the process at once.

import { codeOf, EtlError, exitCodes } from '../errors.ts';

type StopSignal = 'SIGINT' | 'SIGTERM';

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];
const exitBySignal = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/**
 * Runs `work` with a signal that is aborted when the process is asked to stop. Whatever `work` throws after that is
 * reported as ETL_INTERRUPTED with its cause: connections that are closed under way fail in many ways.
 */
export const withInterrupt = async <T>(
  onStop: (signal: StopSignal) => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController();
  let stopped: StopSignal | undefined;
  const stop = (signal: StopSignal): void => {
    if (stopped) process.exit(exitBySignal[signal]);
    stopped = signal;
    onStop(signal);
    controller.abort(new DOMException(signal, 'AbortError'));
  };
  for (const signal of stopSignals) process.on(signal, stop);
  try {
    return await work(controller.signal);
  } catch (cause) {
    if (stopped === undefined || codeOf(cause) === 'ETL_INTERRUPTED') throw cause;
    throw new EtlError('ETL_INTERRUPTED', { signal: stopped }, { cause });
  } finally {
    for (const signal of stopSignals) process.removeListener(signal, stop);
  }
};
