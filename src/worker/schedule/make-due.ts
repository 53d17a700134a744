// Enqueues the runs of due schedules. Every worker polls; the first one handles a slot:
//
// due -> decided, with the row locked -> pending -> on the queue -> enqueued
//
// If a worker dies between two steps, another one continues from the row. A queue accepts the job's
// id, made of schedule and slot, only once (test/services/schedules.test.ts, "a worker died before
// or after").

import { hostname } from 'node:os';
import { keepFailure } from '../../ledger/run/failure.ts';
import { runQuery, withTransaction, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { asEtlError } from '../../core/errors/errors.ts';
import { scheduleCheckMs, slotLateMs } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Receiver } from '../../core/notification.ts';
import type { Queues } from '../../queue/job-queue.ts';
import { keepQueues } from '../../queue/kept-queues.ts';
import { restoreRuns, runIsOpen, bullNameOf } from '../../queue/run-queue.ts';
import { oweFailedBefore } from '../../report/notify/events.ts';
import { traceSending } from '../../report/job-trace.ts';
import type { Tracer } from '../../report/tracer.ts';
import type { Site } from '../find-site.ts';
import type { Look } from '../watch.ts';
import type { SlotOutcome } from './contract.ts';
import { readCalendar } from './slots.ts';
import * as store from './store.ts';

interface EnqueueOptions {
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
  readonly receiversOf?: (pipeline: string) => readonly Receiver[];
}

export interface SlotOptions extends EnqueueOptions {
  readonly onSlot: (schedule: string, outcome: SlotOutcome) => void;
}

/** True if a run of the schedule is waiting, active, or will be tried again. */
export const isBusy = async (queues: Queues, row: store.ScheduleRow): Promise<boolean> =>
  row.job !== null && (row.jobState === 'pending' || (await runIsOpen(queues, row.jobQueue!, row.job)));

/**
 * Calls `deal` for each row in a transaction of its own, and the function that `deal` returns after
 * the commit. The next poll retries rows that failed, and deals with those beyond `rowsMax`.
 */
const forEachRow = async (
  client: Client,
  { logger, receiversOf }: EnqueueOptions,
  selects: readonly ((except: readonly string[]) => Query)[],
  deal: (row: store.ScheduleRow) => Promise<() => void>,
  rowsMax = Infinity,
): Promise<'all' | 'as many as allowed'> => {
  // What is dealt with is no longer selected, so only failed rows are left out.
  const failed: string[] = [];
  for (let rows = 0; rows < rowsMax; rows += 1) {
    let row: store.ScheduleRow | undefined;
    try {
      const afterCommit = await withTransaction(client, async () => {
        for (const select of selects) row ??= (await runQuery(client, select(failed))).rows[0];
        return row === undefined ? undefined : deal(row);
      });
      afterCommit?.();
    } catch (thrown) {
      if (row === undefined) throw thrown;
      const { name, pipeline, job, queue } = row;
      failed.push(name);
      const error = asEtlError(thrown);
      const { code: errorCode, message } = error;
      logger.warn(
        { schedule: name, code: errorCode, error: message },
        'the run of a schedule cannot be enqueued',
      );
      const [host, pid] = [hostname(), process.pid];
      const failure = { pipeline, job, queue, host, pid, errorCode, error: message };
      const notify = () => oweFailedBefore(client, receiversOf?.(pipeline) ?? [], pipeline, error);
      await keepFailure(client, failure, notify, true);
    }
    if (row === undefined) return 'all';
  }
  return 'as many as allowed';
};

const isLate = (slot: Date, since: Date): boolean => since.getTime() - slot.getTime() > slotLateMs;

const messages: Readonly<Record<SlotOutcome, string>> = {
  enqueued: 'a slot is due',
  skipped: 'a slot is skipped: the previous run is still waiting or active',
  missed: 'a slot was missed: no worker ran',
};

/** Schedules decided in one poll: what is decided must get onto the queue before more is due. */
const decidedMax = 1_000;

/** Returns a function that decides about the schedules that are due, a thousand a call. */
const createDecider = (options: SlotOptions): ((client: Client, queues: Queues) => Promise<void>) => {
  // Since when this worker has worked on what is due, and since when workers have. Thousands of schedules with
  // the same time are decided for longer than a slot may be late (`npm run bench:scale`), and a worker may end
  // meanwhile.
  let since: Date | undefined;
  let workersSince: Date | undefined;
  const wasMissed = async (client: Client, slot: Date): Promise<boolean> => {
    if (!isLate(slot, since!)) return false;
    workersSince ??= (await runQuery(client, store.selectDecidingSince(slotLateMs))).rows[0].since as Date;
    return isLate(slot, workersSince);
  };
  /** A slot is missed if no worker ran at its time, unless it is caught up. */
  const judge = async (
    client: Client,
    queues: Queues,
    row: store.ScheduleRow,
    slot: Date,
  ): Promise<SlotOutcome> => {
    if (!row.catchUp && (await wasMissed(client, slot))) return 'missed';
    return (await isBusy(queues, row)) ? 'skipped' : 'enqueued';
  };
  const decide =
    (client: Client, queues: Queues) =>
    async (row: store.ScheduleRow): Promise<() => void> => {
      const { name, cron, timeZone, nextSlot, now } = row;
      since ??= now;
      const calendar = readCalendar(name, cron!, timeZone);
      const slot = new Date(calendar.newest(nextSlot.getTime(), now.getTime()));
      const outcome = await judge(client, queues, row, slot);
      const next = new Date(calendar.next(now.getTime()));
      const first = slot > nextSlot ? nextSlot : undefined;
      const job = outcome === 'enqueued' ? store.jobOfSlot(name, slot) : undefined;
      await runQuery(client, store.moveOn(name, slot, outcome, next));
      await runQuery(client, store.recordDecision({ name, slot, first, outcome, job }));
      return () => {
        const { logger } = options;
        options.onSlot(name, outcome);
        const fields = { schedule: name, slot: calendar.show(slot.getTime()) };
        logger[outcome === 'enqueued' ? 'info' : 'warn'](fields, messages[outcome]);
        if (first !== undefined)
          logger.warn(
            { ...fields, first: calendar.show(first.getTime()) },
            'earlier slots were missed, and are not caught up one by one',
          );
      };
    };
  return async (client, queues) => {
    const due = [store.selectDue, store.selectOverdue];
    const done = await forEachRow(client, options, due, decide(client, queues), decidedMax);
    if (done === 'all') since = workersSince = undefined;
  };
};

export const enqueuePending = (client: Client, queues: Queues, options: EnqueueOptions): Promise<unknown> =>
  forEachRow(client, options, [store.selectPending], async (row) => {
    const { data, ...own } = store.runJobOf(row);
    await traceSending(
      { tracer: options.tracer, queueName: bullNameOf(row.jobQueue!), pipeline: row.pipeline },
      (trace) => restoreRuns(queues, [{ ...own, data: { ...data, ...(trace && { trace }) } }]),
      () => own.job,
    );
    await runQuery(client, store.recordEnqueued(row.name));
    return () => options.logger.info({ schedule: row.name, job: row.job }, 'enqueued a run of a schedule');
  });

export const lookForSlots = ({ queues }: Site, options: SlotOptions): Look => {
  const decideDue = createDecider(options);
  return {
    everyMs: scheduleCheckMs,
    problem: 'the server cannot be queried for schedules',
    look: async (client) => {
      // Opened for the first slot, and used for all of them.
      const kept = keepQueues(() => undefined);
      const own = { ...queues, kept };
      try {
        await decideDue(client, own);
        await enqueuePending(client, own, options);
      } finally {
        await kept.close();
      }
    },
  };
};
