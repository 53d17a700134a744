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
 * the commit. The next poll retries rows that failed.
 */
const forEachRow = async (
  client: Client,
  { logger, receiversOf }: EnqueueOptions,
  selects: readonly ((except: readonly string[]) => Query)[],
  deal: (row: store.ScheduleRow) => Promise<() => void>,
): Promise<void> => {
  const seen: store.ScheduleRow[] = [];
  for (;;) {
    const before = seen.length;
    try {
      const afterCommit = await withTransaction(client, async () => {
        let row: store.ScheduleRow | undefined;
        const names = seen.map(({ name }) => name);
        for (const select of selects) row ??= (await runQuery(client, select(names))).rows[0];
        if (row === undefined) return undefined;
        seen.push(row);
        return deal(row);
      });
      afterCommit?.();
    } catch (thrown) {
      if (seen.length === before) throw thrown;
      const { name, pipeline, job, queue } = seen.at(-1)!;
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
    if (seen.length === before) return;
  }
};

/** Decides about a slot. It is missed if no worker ran at its time, unless it is caught up. */
const judge = async (queues: Queues, row: store.ScheduleRow, slot: Date): Promise<SlotOutcome> => {
  const isLate = row.now.getTime() - slot.getTime() > slotLateMs;
  if (isLate && !row.catchUp) return 'missed';
  return (await isBusy(queues, row)) ? 'skipped' : 'enqueued';
};

const messages: Readonly<Record<SlotOutcome, string>> = {
  enqueued: 'a slot is due',
  skipped: 'a slot is skipped: the previous run is still waiting or active',
  missed: 'a slot was missed: no worker ran',
};

const decideDue = (client: Client, queues: Queues, options: SlotOptions): Promise<void> =>
  forEachRow(client, options, [store.selectDue, store.selectOverdue], async (row) => {
    const { name, cron, timeZone, nextSlot, now } = row;
    const calendar = readCalendar(name, cron!, timeZone);
    const slot = new Date(calendar.newest(nextSlot.getTime(), now.getTime()));
    const outcome = await judge(queues, row, slot);
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
  });

export const enqueuePending = (client: Client, queues: Queues, options: EnqueueOptions): Promise<void> =>
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

export const lookForSlots = ({ queues }: Site, options: SlotOptions): Look => ({
  everyMs: scheduleCheckMs,
  problem: 'the server cannot be queried for schedules',
  look: async (client) => {
    await decideDue(client, queues, options);
    await enqueuePending(client, queues, options);
  },
});
