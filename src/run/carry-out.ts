// Carries out a run that has work to do, as a list of steps: rehearse, load, build, test, publish.

import { hasCorrections } from '../ledger/rejects/corrections.ts';
import { advanceRun } from '../ledger/run/ledger.ts';
import { missingSegments } from '../ledger/run/resume.ts';
import { whyStopped } from '../ledger/run/run-end.ts';
import { lossOf, runQuery } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { retryOf } from '../db/retry.ts';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import { refuseIfGone } from '../publish/gone.ts';
import type { PublishPlan } from '../publish/modes/contract.ts';
import type { BuiltTable } from '../publish/table/tables.ts';
import type { LoadQueue } from '../queue/load-queue.ts';
import { holdsBackIn } from './files/held-files.ts';
import type { PlannedTable } from './files/planned-table.ts';
import { buildTables, prepareBuild } from './build/build-side-by-side.ts';
import { dropBuilt } from './build/empty-schema.ts';
import { keepBuilt, takeBuilt } from './build/kept-build.ts';
import { step, type RunContext } from './context.ts';
import { runHook } from './hooks.ts';
import { applyCorrections, sayOutdated, withRoomForCorrections } from '../load/apply-corrections.ts';
import { FilesHeld, type HoldsBack } from '../load/files-held.ts';
import { loadMissing, loadsAlone, loadsBriefly } from '../load/load.ts';
import { makeLoadPlan, type LoadPlan } from '../load/load-plan.ts';
import type { BegunRun } from './begin.ts';
import { openRunQueue } from './open-queue.ts';
import { saveNotices } from '../report/notice-log.ts';
import { keepRunPlan } from './plan/describe.ts';
import { rehearse } from './plan/rehearse.ts';
import { checkRejects, checkSources } from './publish/completeness.ts';
import { Overtaken } from './publish/overtaken.ts';
import { publishRun } from './publish/publish.ts';
import { testRun } from './test-run.ts';

export { beginRun, continueRun } from './begin.ts';

const advance = async (
  { client, report }: RunContext,
  runId: number,
  state: 'loading' | 'loaded' | 'publishing',
): Promise<void> => {
  const advanced = await runQuery(client, advanceRun(runId, state));
  if (advanced.rowCount === 0) throw await whyStopped(client, runId);
  await saveNotices(client, report, runId);
};

/**
 * Drops the built tables, which are as large as production: there may be no next run to drop them.
 */
const dropAfterFailure = async (context: RunContext, error: unknown): Promise<void> => {
  const { address, client, report } = context;
  // The next attempt publishes these built tables.
  if (codeOf(error) === 'ETL_PUBLISH_SNAPSHOT') return;
  if (retryOf(lossOf(client, address, error)) === 'server') return;
  await dropBuilt(context).catch((cause: unknown) =>
    report.logger.warn(
      { error: cause },
      'the built tables could not be dropped; the next run will drop them',
    ),
  );
};

/** Loads the files after the corrected rejects of earlier runs, which alone may exceed a limit. */
const loadCorrected = async (
  context: RunContext,
  { files }: BegunRun,
  plan: LoadPlan,
  queue: LoadQueue | undefined,
  isCorrected: boolean,
  holdsBack: HoldsBack,
): Promise<ReadonlyMap<string, number>> => {
  const { client } = context;
  if (isCorrected) {
    await sayOutdated(context, plan);
    await applyCorrections(context, plan, files);
  }
  const roomy = isCorrected ? await withRoomForCorrections(client, plan) : plan;
  const seconds = await loadMissing(context, roomy, files, queue, holdsBack).catch((error: unknown) => {
    // The load stops early at a limit; `checkRejects` throws the error that names rejects.
    if (!(error instanceof EtlError) || error.code !== 'ETL_REJECT_LIMIT') throw error;
    return new Map<string, number>();
  });
  if (isCorrected) await applyCorrections(context, plan, files);
  return seconds;
};

interface Prepared {
  /** True if an earlier attempt of the run may have built the tables. */
  readonly mayBeBuilt?: boolean;
  /** What `prepareBuild` returned, if it was called. */
  readonly publications?: ReadonlyMap<string, string> | undefined;
}

const buildAndTest = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  seconds: ReadonlyMap<string, number>,
  { mayBeBuilt = false, publications }: Prepared = {},
): Promise<readonly BuiltTable[]> => {
  try {
    const built = await step(
      context,
      'build',
      async () =>
        (mayBeBuilt ? await takeBuilt(context, runId, planned) : undefined) ??
        buildTables(context, runId, planned, seconds, publications ?? (await prepareBuild(context))),
    );
    await testRun(context, runId, built);
    return built;
  } catch (error) {
    const { client, spec } = context;
    const parts = planned.filter(({ intake }) => intake.extent === 'part');
    const names = parts.map(({ table }) => ({ schema: spec.schema, table: table.name }));
    await refuseIfGone(client, names, error);
    throw error;
  }
};

interface Way {
  readonly plan: LoadPlan;
  readonly isAlone: boolean;
  readonly isRehearsed: boolean;
}

const wayOf = (
  context: RunContext,
  { lease, isNew, isAsPublished, files }: BegunRun,
  planned: readonly PlannedTable[],
): Way => {
  const plan = makeLoadPlan(context, lease, planned);
  const isKnown = isAsPublished && context.spec.hooks === undefined;
  return {
    plan,
    // A continued run may have jobs of its former coordinator in its queue.
    isAlone: files.length === 0 || (isNew && loadsAlone(context, plan, files)),
    // A rehearsal saves a load that cannot be published, but takes longer than a brief one. It is
    // made up for if the run fails.
    isRehearsed: !(isNew && isKnown && loadsBriefly(plan, missingSegments(files, []))),
  };
};

const loadAndBuild = async (
  context: RunContext,
  run: BegunRun,
  planned: readonly PlannedTable[],
  { plan, isAlone, isRehearsed }: Way,
): Promise<readonly BuiltTable[]> => {
  const { runId } = run.lease;
  const queue = isAlone ? undefined : await openRunQueue(context, runId);
  try {
    const { plans } = isRehearsed ? await rehearse(context, planned) : { plans: [] };
    const { client, spec } = context;
    const [, , isCorrected] = await askTogether(client, () => [
      keepRunPlan(context, runId, planned, plans),
      advance(context, runId, 'loading'),
      hasCorrections(client, spec.name),
    ]);
    await runHook(context, 'before', runId);
    // Rehearses again, because the first rehearsal could not see what the hook `before` creates.
    if (spec.hooks?.before !== undefined) await rehearse(context, planned, ['after']);
    const load = () => loadCorrected(context, run, plan, queue, isCorrected, holdsBackIn(planned));
    const loadSeconds = await step(context, 'load', load);
    // Prepared at once, unless the hook or tables that are built already come first.
    const isPrepared = run.isNew && spec.hooks?.after === undefined;
    const [, , publications] = await askTogether(client, () => [
      checkRejects(context, runId),
      advance(context, runId, 'loaded'),
      isPrepared ? prepareBuild(context) : Promise.resolve(undefined),
    ]);
    await runHook(context, 'after', runId);
    const prepared = { mayBeBuilt: !run.isNew, publications };
    const built = await buildAndTest(context, runId, planned, loadSeconds, prepared);
    // All rows are loaded and recorded, so an error of the queue does not fail the run. Proved by
    // test/services/queue-end.test.ts.
    await queue?.close().catch((cause: unknown) => {
      const message = `the queue of run ${runId} could not be emptied after loading; nothing is lost: ${messageOf(cause)}`;
      context.report.emit({ type: 'notice', message });
    });
    return built;
  } catch (error) {
    await queue?.close().catch(() => undefined);
    throw error;
  }
};

/** How often tables are built, if somebody alters production each time. */
const buildsMax = 3;

/**
 * Publishes. If somebody altered production by hand, or another run published rows that were read,
 * builds all tables again from the same staging. Errors: ETL_PUBLISH_CHANGED, those of each step.
 * Proved by test/modes/by-hand.test.ts and several-pipelines.test.ts.
 */
const publishBuilt = async (
  context: RunContext,
  run: BegunRun,
  planned: readonly PlannedTable[],
  built: readonly BuiltTable[],
  isRehearsed: boolean,
  builds = 1,
): Promise<readonly BuiltTable[]> => {
  const { runId } = run.lease;
  await askTogether(context.client, () => [
    advance(context, runId, 'publishing'),
    checkSources(context, run.files, holdsBackIn(planned)),
  ]);
  const keepPlan = async (plans: readonly PublishPlan[]): Promise<void> => {
    if (!isRehearsed) await keepRunPlan(context, runId, planned, plans);
  };
  const publish = () => publishRun(context, runId, planned, built, keepPlan);
  const changed = await step(context, 'publish', publish).catch(async (error: unknown) => {
    if (codeOf(error) === 'ETL_PUBLISH_SNAPSHOT') await keepBuilt(context, runId, planned, built);
    throw error;
  });
  if (changed === undefined) return built;
  const { what } = changed;
  if (builds === buildsMax) throw new EtlError('ETL_PUBLISH_CHANGED', { what, builds }, { cause: changed });
  const isOvertaken = changed instanceof Overtaken;
  const message = isOvertaken
    ? changed.message
    : `somebody changed ${what} in production while the tables were built; the tables are built again from what production has now`;
  context.report.emit({ type: 'notice', message });
  const now = isOvertaken ? changed.planned : planned;
  await advance(context, runId, 'loaded');
  const seconds = new Map(built.map((one) => [one.table, one.seconds]));
  const again = await buildAndTest(context, runId, now, seconds);
  return publishBuilt(context, run, now, again, isRehearsed, builds + 1);
};

/**
 * Returns the error of the rehearsal that was left out, if it has one: it says what is wrong more
 * precisely than the step that failed.
 */
const rehearsedError = async (
  context: RunContext,
  planned: readonly PlannedTable[],
  error: unknown,
): Promise<unknown> => {
  const { client, address, abort, drain } = context;
  const isStopped = abort?.aborted === true || drain?.aborted === true;
  if (isStopped || retryOf(lossOf(client, address, error)) !== 'never') return error;
  return rehearse(context, planned).then(
    () => error,
    (refusal: unknown) => (refusal instanceof EtlError ? refusal : error),
  );
};

/** Returns the published tables. Errors: those of the steps; FilesHeld, after which the run is planned again. */
export const carryOut = async (
  context: RunContext,
  run: BegunRun,
  planned: readonly PlannedTable[],
): Promise<readonly BuiltTable[]> => {
  const way = wayOf(context, run, planned);
  try {
    const first = await loadAndBuild(context, run, planned, way);
    return await publishBuilt(context, run, planned, first, way.isRehearsed);
  } catch (thrown) {
    const isFinal = way.isRehearsed || thrown instanceof FilesHeld;
    const error = isFinal ? thrown : await rehearsedError(context, planned, thrown);
    await dropAfterFailure(context, error);
    throw error;
  }
};
