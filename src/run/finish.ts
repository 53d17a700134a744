// The end of a successful run: its result, and the advice that is kept with it.

import { keepAdvice } from '../ledger/run/advice.ts';
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

/** When the run began, in milliseconds of performance.now(), and where the server's log ended then. */
interface Since {
  readonly start: number;
  readonly wal?: string | undefined;
}

/** Sentences about where the time went; they are kept of a run that is long enough for somebody to ask. */
const adviseOn = async ({ client, spec, report }: RunContext, runId: number, seconds: number) => {
  if (!report.isProfiled && seconds < adviceSecondsMin) return {};
  const measured = report.measured();
  const advice = adviceOf(measured, report.steps(), spec, seconds);
  // The run is published, with these sentences or without.
  if (advice.length > 0)
    await runQuery(client, keepAdvice(runId, advice)).catch((error: unknown) =>
      report.logger.warn({ error }, 'the profile of the run could not be saved'),
    );
  return report.isProfiled ? { profile: { ...measured, advice } } : {};
};

/** The result of a run, with what its row keeps of where the time went; it is the last event. */
export const finishRun = async (
  context: RunContext,
  runId: number,
  outcome: RunResult['outcome'],
  { start, wal }: Since,
): Promise<RunResult> => {
  const { address, client, spec, report } = context;
  // A standing run saved its notices when it was published.
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
