// The only recovery path: waits for a lost server or queue with growing pauses, then begins the run
// again from the ledger.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerAddress } from '../db/connect/address.ts';
import { withClient } from '../db/client.ts';
import { reviveEmbedded } from '../db/embedded/server.ts';
import { retryOf } from '../db/retry.ts';
import { asServerError } from '../db/connect/server-error.ts';
import { codeOf, EtlError } from '../core/errors/errors.ts';
import { recoveriesMax, waitFirstMs, waitStepMsMax } from '../core/limits.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { QueueBackend } from '../queue/backend.ts';
import type { RunSettings } from './options.ts';
import { connectionsNeeded } from '../db/session/facts.ts';

export interface RecoverOptions extends Pick<
  RunSettings,
  'waitMs' | 'waitsForFirst' | 'workers' | 'abort' | 'drain'
> {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
  readonly emit: (event: Extract<RunEvent, { readonly type: 'waiting' }>) => void;
  readonly wasReached: () => boolean;
  /**
   * Work done so far, as a number that grows. After any progress the full `waitMs` is allowed
   * again.
   */
  readonly progress: () => number;
}

const isUp = async ({ address, backend }: RecoverOptions, stop: AbortSignal): Promise<boolean> => {
  try {
    if (address.embedded !== undefined) await reviveEmbedded(address.embedded);
    await withClient(address, () => Promise.resolve(), stop);
    await backend.prepare();
    return true;
  } catch (error) {
    if (retryOf(error) === 'server') return false;
    throw error;
  }
};

/** Returns the code of the innermost cause, which comes from the server or from Node. */
const rootCodeOf = (error: unknown): string | undefined =>
  error instanceof EtlError && error.cause !== undefined ? rootCodeOf(error.cause) : codeOf(error);

const overdue = (options: RecoverOptions, cause: unknown): unknown => {
  const { address, waitMs, workers, wasReached } = options;
  const seconds = Math.round(waitMs / 1000);
  const server = address.label;
  if (rootCodeOf(cause) === '53300') {
    const { message } = asServerError(address, cause);
    const details = { server, seconds, problem: message, workers, needed: connectionsNeeded(options) };
    return new EtlError('ETL_CONNECTIONS', details, { cause });
  }
  if (!wasReached()) return cause;
  const why = asServerError(address, cause).details['problem'] ?? codeOf(cause);
  const problem = `it did not come back within ${seconds} s (${why})`;
  return new EtlError('ETL_SERVER_LOST', { server, problem }, { cause });
};

const waitForServer = async (
  options: RecoverOptions,
  cause: unknown,
  deadline: number,
  stop: AbortSignal,
): Promise<void> => {
  for (
    let pauseMs = waitFirstMs;
    !(await isUp(options, stop));
    pauseMs = Math.min(2 * pauseMs, waitStepMsMax)
  ) {
    if (performance.now() + pauseMs > deadline) throw overdue(options, cause);
    await sleep(pauseMs, undefined, { signal: stop });
  }
};

/** Returns true if a server answered that it starts, stops or has crashed: its address is right. */
const isPassing = (error: unknown): boolean => ['57P01', '57P02', '57P03'].includes(rootCodeOf(error) ?? '');

/** Returns true if waiting is useless: an address that was never reached may be wrong. */
const isHopeless = ({ waitsForFirst, wasReached }: RecoverOptions, error: unknown): boolean =>
  !waitsForFirst &&
  error instanceof EtlError &&
  (error.code === 'ETL_QUEUE_CONNECT' ||
    (error.code === 'ETL_CONNECT' && !wasReached() && !isPassing(error)));

/**
 * Repeats `attempt` while servers are lost; the ledger has what is left to do. All attempts without
 * progress share one `waitMs`.
 */
export const untilDone = async <T>(
  options: RecoverOptions,
  attempt: (isRetry: boolean) => Promise<T>,
): Promise<T> => {
  const { address, waitMs, emit, progress } = options;
  const stops = [options.abort, options.drain].filter((each) => each !== undefined);
  const stop = AbortSignal.any(stops);
  let before: number | undefined;
  let deadline = 0;
  for (let recoveries = 0; ; recoveries += 1) {
    const isRetry = recoveries > 0;
    try {
      return await attempt(isRetry);
    } catch (error) {
      if (stop.aborted || retryOf(error) !== 'server' || recoveries === recoveriesMax) throw error;
      if (!isRetry && isHopeless(options, error)) throw error;
      // If a server accepts connections and drops them, without progress, the waiting time goes on.
      if (progress() !== before) deadline = performance.now() + waitMs;
      before = progress();
      const leftMs = Math.max(0, Math.round(deadline - performance.now()));
      emit({ type: 'waiting', problem: asServerError(address, error).message, waitMs: leftMs });
      await waitForServer(options, error, deadline, stop);
      // A pause even if the server is up: it may accept connections and then drop them.
      const pauseMs = Math.min(waitFirstMs * 2 ** recoveries, waitStepMsMax);
      if (performance.now() + pauseMs > deadline) throw overdue(options, error);
      await sleep(pauseMs, undefined, { signal: stop });
    }
  }
};
