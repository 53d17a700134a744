// Keeps why a run ended, and what failed before there was a run, where there is a bookkeeping schema to keep it in.

import { hostname } from 'node:os';
import { keepFailure } from '../checkpoint/failure.ts';
import { endRun } from '../checkpoint/run-end.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { runQuery, withClient } from '../db/client.ts';
import { retryOf } from '../db/retry.ts';
import type { EtlError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { PreparedRun } from './prepare.ts';

export interface FailedBefore {
  readonly pipeline: string | null;
  /** Of the run queue. */
  readonly job: string | null;
  readonly queue: string;
}

/** Records a failure over a connection of its own. One that cannot be recorded is logged, for it was reported already. */
export const recordFailure = async (
  address: ServerAddress,
  failed: FailedBefore,
  { code: errorCode, message: error }: EtlError,
  logger: Logger,
): Promise<void> => {
  // Stopped on request, or the server itself failed: nothing to record, or no way to.
  if (['ETL_INTERRUPTED', 'ETL_CONNECT', 'ETL_SERVER_LOST'].includes(errorCode)) return;
  const failure = { ...failed, host: hostname(), pid: process.pid, errorCode, error };
  await withClient(address, (client) => keepFailure(client, failure)).catch((cause: unknown) =>
    logger.warn({ error: cause }, 'the failure could not be recorded'),
  );
};

/** Records in the ledger why a run ended, over a new connection: the run's own may be gone. */
export const recordEnd = async (
  { address, report }: PreparedRun,
  runId: number,
  error: EtlError,
): Promise<void> => {
  // A server that is gone cannot record it; a run that another process took over is not ours to end.
  if (
    retryOf(error) === 'server' ||
    ['ETL_RUN_TAKEN', 'ETL_RUN_SUPERSEDED', 'ETL_RUN_LOCKED'].includes(error.code)
  )
    return;
  const state = error.code === 'ETL_INTERRUPTED' ? 'cancelled' : 'failed';
  await withClient(address, (client) =>
    runQuery(client, endRun(runId, state, error, hostname(), process.pid)),
  ).catch((cause: unknown) =>
    report.logger.warn({ error: cause }, 'the end of the run could not be recorded'),
  );
};
