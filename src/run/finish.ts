// Ends a successful run: makes its result, and saves the advice about it.

import { keepAdvice } from '../ledger/run/run-story.ts';
import { testsOfRun } from '../ledger/run/data-tests.ts';
import { runQuery } from '../db/client.ts';
import { walBytesSince } from '../db/session/server-wal.ts';
import { adviceSecondsMin } from '../core/limits.ts';
import type { RunResult } from '../core/model.ts';
import type { RunContext } from './context.ts';
import { secondsSince } from '../core/amounts.ts';
import { saveNotices } from '../report/notice-log.ts';
import { adviceOf } from './advice.ts';
import { tableResults } from './publish/results.ts';

/**
 * When the run began (in milliseconds of performance.now()), and the server's WAL position then.
 */
interface Since {
  readonly start: number;
  readonly wal?: string | undefined;
}

/**
 * Saves advice about where the time went, unless the run was too short for anybody to ask. Returns
 * the profile if it was requested.
 */
const adviseOn = async ({ client, spec, report }: RunContext, runId: number, seconds: number) => {
  if (!report.isProfiled && seconds < adviceSecondsMin) return {};
  const measured = report.measured();
  const advice = adviceOf(measured, report.steps(), spec, seconds);
  // The run is published already, so an error here must not fail it.
  if (advice.length > 0)
    await runQuery(client, keepAdvice(runId, advice)).catch((error: unknown) =>
      report.logger.warn({ error }, 'the profile of the run could not be saved'),
    );
  return report.isProfiled ? { profile: { ...measured, advice } } : {};
};

/** Makes the result of a run, and reports it as the last event. */
export const finishRun = async (
  context: RunContext,
  runId: number,
  outcome: RunResult['outcome'],
  { start, wal }: Since,
): Promise<RunResult> => {
  const { address, client, spec, report } = context;
  // An unchanged run has saved its notices when it was published.
  if (outcome === 'published') await saveNotices(client, report, runId);
  const { publishedAt, tables } = await tableResults(client, spec, runId);
  const serverWalBytes = await walBytesSince(client, wal);
  const tests = await testsOfRun(client, runId);
  const seconds = secondsSince(start);
  const profiled = await adviseOn(context, runId, seconds);
  const result: RunResult = {
    runId,
    pipeline: spec.name,
    outcome,
    publishedAt,
    tables,
    steps: report.steps(),
    seconds,
    ...(address.embedded !== undefined && { embedded: true as const }),
    ...(serverWalBytes !== undefined && { serverWalBytes }),
    ...profiled,
    ...(tests.length > 0 && { tests }),
  };
  report.emit({ type: 'finished', result });
  return result;
};
