// Records why a run ended, or what failed before there was a run, and enqueues notifications.

import { hostname } from 'node:os';
import { keepFailure } from '../ledger/run/failure.ts';
import { endRun } from '../ledger/run/run-end.ts';
import { namesServer, type ServerAddress } from '../db/connect/address.ts';
import { runQuery, withClient, withTransaction, type Client } from '../db/client.ts';
import { retryOf } from '../db/retry.ts';
import type { EtlError } from '../core/errors/errors.ts';
import { silentLogger, type Logger } from '../core/logger.ts';
import { defaultQueue } from '../core/model.ts';
import type { Receiver } from '../core/notification.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { findServer } from './find-server.ts';
import type { RunOptions } from './options.ts';
import { notifyUnkept } from './publish/at-end.ts';
import { oweFailed, oweFailedBefore } from '../report/notify/events.ts';
import { saveNotices } from '../report/notice-log.ts';
import type { PreparedRun } from './prepare.ts';
import { endOldSessions } from './take-lock.ts';

const unreachable: ReadonlySet<string> = new Set([
  'ETL_CONNECT',
  'ETL_CONNECT_AUTH',
  'ETL_CONNECT_DATABASE',
  'ETL_CONNECT_TLS',
  'ETL_SERVER_LOST',
]);

export interface FailedBefore {
  readonly pipeline: string | null;
  readonly job: string | null;
  readonly queue: string;
}

/** Records a failure over a new connection. An error of recording is only logged. */
export const recordFailure = async (
  address: ServerAddress,
  failed: FailedBefore,
  error: EtlError,
  logger: Logger,
  receivers: readonly Receiver[] = [],
): Promise<void> => {
  const { code: errorCode, message } = error;
  if (errorCode === 'ETL_INTERRUPTED') return;
  const notify = (): Promise<void> => notifyUnkept(receivers, failed.pipeline, error, logger);
  // Another connection would fail in the same way, and be reported as a second error.
  if (unreachable.has(errorCode)) return notify();
  const failure = { ...failed, host: hostname(), pid: process.pid, errorCode, error: message };
  const keep = (client: Client): Promise<void> =>
    keepFailure(client, failure, () => oweFailedBefore(client, receivers, failed.pipeline, error));
  await withClient(address, keep).catch((cause: unknown) => {
    logger.warn({ error: cause }, 'the failure could not be recorded');
    return notify();
  });
};

/**
 * Records an attempt that failed before its server was asked for anything, if the server is named.
 * Nothing is set up or started for that.
 */
export const recordUnprepared = async (
  pipeline: Pipeline,
  options: RunOptions,
  error: EtlError,
  receivers: readonly Receiver[],
): Promise<void> => {
  const { databaseUrl, connection, logger = silentLogger } = options;
  if (databaseUrl === undefined && connection === undefined && !namesServer(process.env)) return;
  const address = await findServer({ databaseUrl, connection }, false).catch(() => undefined);
  const failed = { pipeline: pipeline.name, job: null, queue: defaultQueue };
  if (address !== undefined) await recordFailure(address, failed, error, logger, receivers);
};

/**
 * Ends the sessions that an aborted run has cut, and waits for their end: until then they would keep
 * the lock, and refuse the next run. A server that is lost ends them itself.
 */
export const endCutSessions = ({ address }: PreparedRun): Promise<unknown> =>
  withClient(address, (client) => endOldSessions({ client, address })).catch(() => undefined);

/** Records the end of a run over a new connection, because the run's connection may be lost. */
export const recordEnd = async (prepared: PreparedRun, runId: number, error: EtlError): Promise<void> => {
  const { address, report, receivers, spec } = prepared;
  // These errors mean that another process has taken the run over. It records the end.
  if (['ETL_RUN_TAKEN', 'ETL_RUN_SUPERSEDED', 'ETL_RUN_LOCKED'].includes(error.code)) return;
  const notify = (): Promise<void> => notifyUnkept(receivers, spec.name, error, report.logger);
  // Nothing can be recorded in a server that is lost.
  if (retryOf(error) === 'server') return notify();
  const state = error.code === 'ETL_INTERRUPTED' ? 'cancelled' : 'failed';
  const end = async (client: Client): Promise<void> => {
    const { rowCount } = await runQuery(client, endRun(runId, state, error, hostname(), process.pid));
    if (rowCount === 1 && state === 'failed') await oweFailed(client, prepared, runId, error);
  };
  const endAndKeep = async (client: Client): Promise<void> => {
    await withTransaction(client, () => end(client));
    await saveNotices(client, report, runId);
  };
  await withClient(address, endAndKeep).catch(async (cause: unknown) => {
    report.logger.warn({ error: cause }, 'the end of the run could not be recorded');
    if (state === 'failed') await notify();
  });
};
