// Keeps what failed before there was a run, where there is a bookkeeping schema to keep it in.

import { hostname } from 'node:os';
import { keepFailure } from '../checkpoint/failure.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { withClient } from '../db/client.ts';
import type { EtlError } from '../errors.ts';
import type { Logger } from '../logger.ts';

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
