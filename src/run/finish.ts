// Ends a successful run: makes its result, and saves the advice about it.

import { parse } from 'node:path';
import { markUpToDate, nameFailures } from '../ledger/run/failure.ts';
import { keepAdvice } from '../ledger/run/run-story.ts';
import { heldFiles } from '../ledger/production/held-files.ts';
import { testsOfRun } from '../ledger/run/data-tests.ts';
import { runQuery } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { walBytesSince } from '../db/session/server-wal.ts';
import { adviceSecondsMin } from '../core/limits.ts';
import type { RunResult, TableResult } from '../core/model.ts';
import type { RunContext } from './context.ts';
import { rounded } from '../core/amounts.ts';
import { saveNotices } from '../report/notice-log.ts';
import { adviceOf } from './advice.ts';
import { loadedTotals, type LoadedTotals } from '../ledger/run/ledger.ts';
import { publishedTables, type PublishedTable } from '../ledger/production/published-tables.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import { countsOfTable } from '../core/counts.ts';

const tableResults = (
  spec: PipelineSpec,
  totals: readonly LoadedTotals[],
  published: readonly PublishedTable[],
): readonly TableResult[] =>
  spec.tables.map(({ name, kind }) => {
    const { files = 0, bytes = 0 } = totals.find(({ table }) => table === name) ?? {};
    const own = published.find(({ table }) => table === name)!;
    const { rowsBefore, rows, seconds, strategy, changes, partitions } = own;
    return {
      table: name,
      schema: spec.schema,
      kind,
      files,
      bytes,
      ...countsOfTable(totals, name),
      rowsBefore,
      rows,
      seconds,
      strategy,
      ...(changes && { changes }),
      ...(partitions && { partitions }),
    };
  });

/** The server's WAL position at the beginning of the run. */
interface Since {
  readonly wal?: string | undefined;
}

/** Saves and returns advice, unless the run was short and nobody asked for its profile. */
const adviseOn = async (
  { client, spec, report }: RunContext,
  runId: number,
  { steps, seconds }: Pick<RunResult, 'steps' | 'seconds'>,
) => {
  if (!report.isProfiled && seconds < adviceSecondsMin) return {};
  const measured = report.measured();
  const advice = adviceOf(measured, steps, spec, seconds);
  // The run is published already, so an error here must not fail it.
  if (advice.length > 0)
    await runQuery(client, keepAdvice(runId, advice)).catch((error: unknown) =>
      report.logger.warn({ error }, 'the profile of the run could not be saved'),
    );
  return report.isProfiled ? { profile: { ...measured, advice } } : {};
};

/** `tidy` is called beside the questions for the result. */
export const finishRun = async (
  context: RunContext,
  runId: number,
  outcome: RunResult['outcome'],
  { wal }: Since,
  tidy: () => Promise<void> = () => Promise.resolve(),
): Promise<RunResult> => {
  const { address, client, spec, report, file } = context;
  const fileName = file === undefined ? spec.name : parse(file.path).name;
  const [, totals, published, serverWalBytes, tests, held] = await askTogether(client, () => [
    tidy(),
    loadedTotals(client, runId),
    publishedTables(client, runId),
    walBytesSince(client, wal),
    testsOfRun(client, runId),
    heldFiles(client, spec.name),
    ...(outcome === 'published' ? [] : [runQuery(client, markUpToDate(spec.name))]),
    ...(fileName === spec.name ? [] : [runQuery(client, nameFailures(fileName, spec.name))]),
  ]);
  // An unchanged run is an earlier run, which saved its notices.
  if (outcome === 'published') await saveNotices(client, report, runId);
  const steps = report.steps();
  const seconds = rounded(steps.reduce((sum, one) => sum + one.seconds, 0));
  const profiled = await adviseOn(context, runId, { steps, seconds });
  const result: RunResult = {
    runId,
    pipeline: spec.name,
    outcome,
    publishedAt: published[0]!.publishedAt,
    tables: tableResults(spec, totals, published),
    steps,
    seconds,
    ...(address.embedded !== undefined && { embedded: true as const }),
    ...(serverWalBytes !== undefined && { serverWalBytes }),
    ...profiled,
    ...(held.length > 0 && { held }),
    ...(tests.length > 0 && { tests }),
  };
  report.emit({ type: 'finished', result });
  return result;
};
