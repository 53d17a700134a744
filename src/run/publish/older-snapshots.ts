// Plans a publication so that each reader sees all old or all new rows. A swapped table looks empty
// to an older snapshot, so this waits for such snapshots, or replaces rows in place.

import { setTimeout as sleep } from 'node:timers/promises';
import { whyStopped } from '../../ledger/run/run-end.ts';
import { runStanding } from '../../ledger/run/ledger.ts';
import { askTogether } from '../../db/ask-together.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { SnapshotHolder } from '../../core/run-event.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import { planPublish } from '../../publish/plan.ts';
import { olderSnapshot, type Dependent } from '../../publish/table/dependents.ts';
import { createSnapshotWatch } from '../../publish/snapshots.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import {
  areSmall,
  emptyForOlder,
  mixedText,
  mixedWith,
  planInPlace,
  planUniformly,
} from '../../publish/uniform.ts';
import type { RunContext } from '../context.ts';
import { stopIfAsked } from '../../core/stop.ts';
import { holdersText } from '../../report/notice.ts';
import { saveNotices } from '../../report/notice-log.ts';

/**
 * How long small tables wait for older snapshots, before their rows are replaced in place instead.
 * A standby reports its snapshots every ten seconds.
 */
const smallWaitMs = 30_000;

const pollFirstMs = 10;
const pollMsMax = 1_000;

/** Undefined for a rollback: its run begins only when it is published. */
type RunId = number | undefined;

const lookUp = async (context: RunContext, runId: RunId): Promise<void> => {
  stopIfAsked(context);
  if (runId === undefined) return;
  await saveNotices(context.client, context.report, runId);
  if ((await runStanding(context.client, runId))?.state === 'cancelled')
    throw await whyStopped(context.client, runId);
};

const oldest = (holders: readonly SnapshotHolder[]): Dependent => ({
  kind: olderSnapshot,
  name: holdersText(holders),
});

/**
 * Waits until the older snapshots have ended. Returns the sessions that still hold one after
 * `waitMs`.
 */
const waitForOlder = async (
  context: RunContext,
  runId: RunId,
  watch: () => Promise<readonly SnapshotHolder[]>,
  waitMs: number,
): Promise<readonly SnapshotHolder[]> => {
  const deadline = performance.now() + waitMs;
  const told = new Set<number | null>();
  for (let pauseMs = pollFirstMs; ; pauseMs = Math.min(2 * pauseMs, pollMsMax)) {
    const holders = await watch();
    const leftMs = deadline - performance.now();
    if (holders.length === 0 || leftMs <= 0) return holders;
    // Announced only after a while, because short statements end before anybody could read the
    // notice.
    if (pauseMs === pollMsMax && holders.some(({ pid }) => !told.has(pid))) {
      for (const { pid } of holders) told.add(pid);
      context.report.emit({ type: 'snapshots', holders, waitMs: Math.round(leftMs) });
    }
    await lookUp(context, runId);
    await sleep(Math.min(pauseMs, leftMs));
  }
};

/**
 * Plans each attempt. Once tables are kept, all later plans keep them. Errors:
 * ETL_PUBLISH_SNAPSHOT, ETL_RUN_CANCELLED, those of planning.
 */
export const createPlanner = (context: RunContext, built: readonly BuiltTable[], runId: RunId) => {
  const { client, spec, report } = context;
  const watch = createSnapshotWatch(client);
  let stays: Dependent | undefined;
  let isFirst = true;

  /**
   * Waits for older snapshots. If they do not end, keeps small tables in place, unless that failed
   * (`isTried`).
   */
  const planPastOlder = async (
    plans: readonly PublishPlan[],
    before: readonly SnapshotHolder[],
    waitMs: number,
    isTried: boolean,
  ) => {
    if (before.length === 0) return plans;
    const mayStay =
      !isTried &&
      (await areSmall(client, plans)) &&
      (await planInPlace(client, built, oldest(before))) !== undefined;
    const holders = await waitForOlder(
      context,
      runId,
      watch,
      mayStay ? Math.min(waitMs, smallWaitMs) : waitMs,
    );
    if (holders.length === 0) return plans;
    stays = oldest(holders);
    const kept = mayStay ? await planInPlace(client, built, stays) : undefined;
    if (kept !== undefined) return kept;
    const seconds = Math.round(waitMs / 1000);
    throw new EtlError('ETL_PUBLISH_SNAPSHOT', { seconds, holders: holdersText(holders) });
  };

  return async (): Promise<readonly PublishPlan[]> => {
    const [plans, holders] = await askTogether(client, () => [
      planPublish(client, built, { looks: isFirst, stays }),
      watch(),
    ]);
    const isAnnounced = !isFirst;
    isFirst = false;
    const { snapshotWaitMs: waitMs } = spec;
    const mixed = mixedWith(plans);
    const hasEmpty = emptyForOlder(plans).length > 0;
    if (waitMs === false || stays !== undefined || !(hasEmpty || mixed)) return plans;
    const uniform = await planUniformly(client, built, plans);
    if (uniform !== plans) {
      stays = mixed;
      return uniform;
    }
    if (mixed !== undefined && !isAnnounced)
      report.emit({ type: 'notice', message: mixedText(plans, mixed) });
    return hasEmpty ? planPastOlder(plans, holders, waitMs, mixed !== undefined) : plans;
  };
};
