// Enqueues the runs of schedules whose files have arrived. One worker at a time looks:
//
// due -> taken by a worker -> nothing new, or listing failed -> due later
//                          -> run needed, row locked -> pending, as a slot (make-due.ts)
//
// A worker keeps what it has taken for a short time, which it prolongs while it looks: if it dies,
// another worker looks then.

import { randomUUID } from 'node:crypto';
import { markUpToDate } from '../../ledger/run/failure.ts';
import { runQuery, withClient, withTransaction, type Client } from '../../db/client.ts';
import { retryOf } from '../../db/retry.ts';
import { asEtlError, codeOf, type EtlError } from '../../core/errors/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Receiver } from '../../core/notification.ts';
import { lookLeaseMs, scheduleCheckMs } from '../../core/limits.ts';
import { readDefinition } from '../../pipeline/definition.ts';
import { sightFiles } from '../../run/files/sighting.ts';
import { resolveOptions, type RunOptions } from '../../run/options.ts';
import { recordFailure } from '../../run/record-failure.ts';
import { needsRun } from '../../tools/needs-run.ts';
import type { Catalog } from '../catalog.ts';
import type { Site } from '../find-site.ts';
import type { Look } from '../watch.ts';
import { enqueuePending, isBusy, type SlotOptions } from './make-due.ts';
import * as store from './store.ts';

/** Schedules whose files one worker looks at together. */
const looksAtOnce = 4;

/** The pause after a look is so many times as long as the look took, up to a maximum. */
const pausePerLook = 9;
const pauseMsMax = 2 * lookLeaseMs;

interface Shared {
  readonly site: Site;
  readonly catalog: Catalog;
  readonly queueNames: readonly string[];
  readonly logger: Logger;
  readonly drain: AbortController;
  readonly common: RunOptions;
  readonly receiversOf: (pipeline: string) => readonly Receiver[];
}

type Found =
  | { readonly kind: 'as before' }
  | { readonly kind: 'unclear' }
  | { readonly kind: 'new'; readonly seen: string; readonly isNeeded: boolean };

interface FilesLooking {
  readonly look: Look;
  /** Resolves when no look is under way. */
  readonly settled: () => Promise<unknown>;
}

/** Errors of a run for which not every table has a ready file yet. */
const waitingCodes = new Set(['ETL_SOURCE_NOT_FOUND', 'ETL_FILES_HELD']);

/** Lists the files. Only if the list differs from the newest one, plans as a run would. */
const lookAt = async (shared: Shared, row: store.ScheduleRow): Promise<Found> => {
  const { catalog, common, drain, site } = shared;
  const { pipeline, directory } = catalog.find(row.pipeline);
  const options = { ...common, params: row.params, directory, signal: drain.signal };
  const settings = resolveOptions(options);
  const definition = await readDefinition(pipeline, settings);
  const { workingDirectory } = settings;
  const sight = () => sightFiles(definition.spec, { workingDirectory, signal: drain.signal });
  const { seen, isComplete } = await sight();
  if (seen === row.seen) return { kind: 'as before' };
  try {
    if (await isBusy(site.queues, row)) return { kind: 'unclear' };
    const isNeeded = await withClient(site.address, (client) => needsRun(client, definition, settings));
    // The plan waited until files had settled, which the run will load, too.
    return { kind: 'new', seen: isNeeded ? (await sight()).seen : seen, isNeeded };
  } catch (thrown) {
    if (drain.signal.aborted) throw thrown;
    const code = codeOf(thrown) ?? '';
    if (code === 'ETL_RUN_LOCKED' || retryOf(thrown) === 'server') return { kind: 'unclear' };
    // Otherwise the run fails in the same way, and reports that as every run does.
    const waits = code === 'ETL_FILE_NOT_READY' || (!isComplete && waitingCodes.has(code));
    return { kind: 'new', seen, isNeeded: !waits };
  }
};

const hasFailed = ({ jobState }: store.ScheduleRow): boolean =>
  jobState !== null && !['pending', 'enqueued', 'published', 'unchanged'].includes(jobState);

/** Locks the row, so that nobody replaces or pauses the schedule meanwhile. */
const decide = (
  client: Client,
  looker: string,
  row: store.ScheduleRow,
  end: Omit<store.Looked, 'seen'>,
  found: Found,
): Promise<boolean> =>
  withTransaction(client, async () => {
    const { name } = row;
    const locked: store.ScheduleRow | undefined = (await runQuery(client, store.selectSchedule(name)))
      .rows[0];
    // A paused schedule looks at the same files again when it is resumed.
    const seen = found.kind === 'new' && locked?.paused !== true ? found.seen : row.seen;
    const { rowCount, rows } = await runQuery(client, store.endLook(name, looker, { ...end, seen }));
    if (rowCount === 0 || found.kind === 'unclear' || locked!.paused) return false;
    if (found.kind === 'as before' || !found.isNeeded) {
      // The attempt that failed has been repeated, and found nothing to do.
      if (row.lookError !== null && !hasFailed(row)) await runQuery(client, markUpToDate(row.pipeline));
      return false;
    }
    const slot: Date = rows[0].now;
    const job = store.jobByHand(name, randomUUID());
    await runQuery(client, store.recordFilesSeen(name, slot));
    const decision = { name, slot, first: undefined, outcome: 'enqueued', job } as const;
    await runQuery(client, store.recordDecision(decision));
    return true;
  });

const tell = async (shared: Shared, row: store.ScheduleRow, error: EtlError): Promise<void> => {
  const { site, logger, receiversOf } = shared;
  const { name, pipeline, queue } = row;
  logger.warn({ schedule: name, code: error.code, error: error.message }, 'the files cannot be listed');
  await recordFailure(site.address, { pipeline, job: null, queue }, error, logger, receiversOf(pipeline));
};

const lookOnce = async (
  shared: Shared,
  options: SlotOptions,
  looker: string,
  row: store.ScheduleRow,
): Promise<void> => {
  const begun = performance.now();
  let found: Found = { kind: 'unclear' };
  let lookError: string | null = null;
  try {
    found = await lookAt(shared, row);
  } catch (thrown) {
    if (!shared.drain.signal.aborted) {
      const error = asEtlError(thrown);
      lookError = error.code;
      if (lookError !== row.lookError) await tell(shared, row, error);
    }
  }
  const pauseMs = shared.drain.signal.aborted
    ? 0
    : Math.max(row.everyMs!, Math.min(pauseMsMax, pausePerLook * (performance.now() - begun)));
  const end = { lookError, pauseMs };
  await withClient(shared.site.address, async (client) => {
    if (!(await decide(client, looker, row, end, found))) return;
    options.onSlot(row.name, 'enqueued');
    options.logger.info({ schedule: row.name }, 'files have arrived');
    await enqueuePending(client, shared.site.queues, options);
  });
};

export const lookForFiles = (shared: Shared, options: SlotOptions): FilesLooking => {
  const { catalog, queueNames, logger } = shared;
  /** Looks that are under way, by a name of their own. */
  const under = new Map<string, Promise<void>>();
  const start = (looker: string, row: store.ScheduleRow): void => {
    const one = lookOnce(shared, options, looker, row)
      // Another worker looks when the time of this one is over.
      .catch((error: unknown) =>
        logger.warn({ schedule: row.name, code: asEtlError(error).code }, 'a look at files was lost'),
      )
      .finally(() => under.delete(looker));
    under.set(looker, one);
  };
  return {
    look: {
      everyMs: scheduleCheckMs,
      problem: 'the server cannot be queried for schedules of files',
      look: async (client) => {
        if (under.size > 0) await runQuery(client, store.renewLooks([...under.keys()], lookLeaseMs));
        while (under.size < looksAtOnce) {
          const looker = randomUUID();
          const claim = store.claimLook(looker, lookLeaseMs, catalog.names, queueNames);
          const row: store.ScheduleRow | undefined = (await runQuery(client, claim)).rows[0];
          if (row === undefined) return;
          start(looker, row);
        }
      },
    },
    settled: () => Promise.all(under.values()),
  };
};
