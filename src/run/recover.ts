// Keeps a run going while the server comes and goes: waits with growing pauses, then lets it begin again.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerAddress } from '../db/address.ts';
import { withClient } from '../db/client.ts';
import { reviveEmbedded } from '../db/embedded/server.ts';
import { retryOf } from '../db/retry.ts';
import { asServerError } from '../db/server-error.ts';
import { EtlError } from '../errors.ts';
import { recoveriesMax, waitFirstMs, waitStepMsMax } from '../limits.ts';
import type { RunEvent } from '../model.ts';
import type { QueueBackend } from '../queue/backend.ts';

export interface RecoverOptions {
  readonly address: ServerAddress;
  readonly queue: QueueBackend;
  readonly waitMs: number;
  readonly emit: (event: RunEvent) => void;
  /** Whether any connection has ever stood. */
  readonly wasReached: () => boolean;
  readonly signal: AbortSignal | undefined;
  readonly drain: AbortSignal | undefined;
}

/** Whether the server takes connections, and the queue takes jobs. */
const isUp = async ({ address, queue }: RecoverOptions, signal: AbortSignal): Promise<boolean> => {
  try {
    if (address.embedded !== undefined) await reviveEmbedded(address.embedded);
    await withClient(address, () => Promise.resolve(), signal);
    await queue.prepare();
    return true;
  } catch (error) {
    if (retryOf(error) === 'server') return false;
    throw error;
  }
};

/** Waits until the server takes connections. Errors: ETL_SERVER_LOST when that takes longer than `waitMs`. */
const waitForServer = async (options: RecoverOptions, cause: unknown, signal: AbortSignal): Promise<void> => {
  const { address, waitMs } = options;
  const deadline = performance.now() + waitMs;
  for (
    let pauseMs = waitFirstMs;
    !(await isUp(options, signal));
    pauseMs = Math.min(2 * pauseMs, waitStepMsMax)
  ) {
    if (performance.now() + pauseMs > deadline) {
      const problem = `it did not come back within ${Math.round(waitMs / 1000)} s`;
      throw new EtlError('ETL_SERVER_LOST', { server: address.label, problem }, { cause });
    }
    await sleep(pauseMs, undefined, { signal });
  }
};

/**
 * Calls `attempt` until it returns or fails for another reason than a lost server. `attempt` is told whether it is the
 * first; it finds in the ledger what is left to do.
 */
export const untilDone = async <T>(
  options: RecoverOptions,
  attempt: (isRetry: boolean) => Promise<T>,
): Promise<T> => {
  const { address, waitMs, emit, wasReached } = options;
  const signals = [options.signal, options.drain].filter((signal) => signal !== undefined);
  const signal = AbortSignal.any(signals);
  for (let recoveries = 0; ; recoveries += 1) {
    const isRetry = recoveries > 0;
    try {
      return await attempt(isRetry);
    } catch (error) {
      if (signal.aborted || retryOf(error) !== 'server' || recoveries === recoveriesMax) throw error;
      // Before the first connection there is nothing to wait for: a wrong address is told at once.
      if (!wasReached() && error instanceof EtlError && error.code === 'ETL_CONNECT') throw error;
      if (!isRetry && error instanceof EtlError && error.code === 'ETL_QUEUE_CONNECT') throw error;
      emit({ type: 'waiting', problem: asServerError(address, error).message, waitMs });
      await waitForServer(options, error, signal);
      // A server that takes us in only to drop us again is not asked in a tight loop.
      await sleep(Math.min(waitFirstMs * 2 ** recoveries, waitStepMsMax), undefined, { signal });
    }
  }
};
