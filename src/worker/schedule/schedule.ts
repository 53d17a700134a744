// The library's functions for schedules.

import { randomUUID } from 'node:crypto';
import { runQuery, withClient, withTransaction, type Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { identifierBytesMax } from '../../core/limits.ts';
import { silentLogger } from '../../core/logger.ts';
import type { Pipeline } from '../../pipeline/define-pipeline.ts';
import type { AddedRun } from '../../queue/run-queue-state.ts';
import { requestRun } from '../enqueue.ts';
import type { SiteOptions } from '../options.ts';
import { openSite, withBookkeeping } from '../site.ts';
import { checkQueueName, rememberQueueNames } from '../queues.ts';
import type { ScheduleHistoryOptions, Schedule, ScheduleOptions, ScheduleSlot } from './contract.ts';
import { listSchedules, listSlots, schedulesOf, unknownSchedule } from './list.ts';
import { enqueuePending, isBusy } from './make-due.ts';
import { readCalendar, type Calendar } from './slots.ts';
import * as store from './store.ts';

const changeOne = async (client: Client, name: string, query: ReturnType<typeof store.pauseSchedule>) => {
  const { rowCount } = await runQuery(client, query);
  if (rowCount === 0) throw await unknownSchedule(client, name);
};

const lockOne = async (client: Client, name: string): Promise<store.ScheduleRow> => {
  const { rows } = await runQuery(client, store.selectSchedule(name));
  if (rows[0] === undefined) throw await unknownSchedule(client, name);
  return rows[0];
};

/** Refuses an invalid name: names become part of job ids, which cannot contain a colon. */
const refuseName = (name: string): void => {
  if (/^[a-z0-9][a-z0-9_-]*$/.test(name) && name.length <= identifierBytesMax) return;
  const problem = `a name has lower-case letters, digits, - and _, ${identifierBytesMax} at most`;
  throw new EtlError('ETL_SCHEDULE_INVALID', { schedule: name, problem });
};

const refuseLateAfter = (name: string, lateAfterMs: number | undefined): void => {
  if (lateAfterMs === undefined || (Number.isFinite(lateAfterMs) && lateAfterMs > 0)) return;
  const problem = 'lateAfterMs is a number of milliseconds above 0';
  throw new EtlError('ETL_SCHEDULE_INVALID', { schedule: name, problem });
};

/** Without times, the next look at the files is due now. */
const nextSlotOf = async (client: Client, calendar: Calendar | undefined): Promise<Date> => {
  const now: Date = (await runQuery(client, store.selectNow())).rows[0].now;
  return calendar === undefined ? now : new Date(calendar.next(now.getTime()));
};

const everyMsDefault = 10_000;
const everyMsMin = 1_000;

/** Returns when runs are due: times of cron, or how often files are looked at. */
const dueBy = (name: string, options: ScheduleOptions) => {
  const { cron, on, everyMs, timeZone, catchUp = false } = options;
  const refuse = (problem: string): never => {
    throw new EtlError('ETL_SCHEDULE_INVALID', { schedule: name, problem });
  };
  if (on === undefined) {
    if (cron === undefined) return refuse("it needs cron (times), or on: 'files'");
    if (everyMs !== undefined) refuse("everyMs goes with on: 'files'; cron has the times");
    const zone = timeZone ?? 'UTC';
    return {
      cron,
      timeZone: zone,
      catchUp,
      everyMs: null,
      calendar: readCalendar(name, cron, zone),
    };
  }
  if (on !== 'files') refuse("on must be 'files'");
  if (cron !== undefined || timeZone !== undefined || catchUp)
    refuse("cron, timeZone and catchUp do not go with on: 'files', which has no times");
  const every = everyMs ?? everyMsDefault;
  if (!Number.isFinite(every) || every < everyMsMin)
    refuse(`everyMs is a number of milliseconds, ${everyMsMin} at least`);
  return { cron: null, timeZone: 'UTC', catchUp, everyMs: every, calendar: undefined };
};

const set = async (name: string, pipeline: Pipeline, options: ScheduleOptions): Promise<Schedule> => {
  const { params = {}, directory, priority, lateAfterMs } = options;
  refuseName(name);
  refuseLateAfter(name, lateAfterMs);
  const queue = checkQueueName(options.queue);
  const { calendar, ...due } = dueBy(name, options);
  const request = await requestRun(pipeline, { params, directory });
  return withBookkeeping(
    options,
    async (client) => {
      await rememberQueueNames(client, [queue]);
      const nextSlot = await nextSlotOf(client, calendar);
      const { definition, params: pinnedParams } = request;
      const given = {
        definition,
        params,
        pinnedParams,
        ...due,
        priority,
        queue,
        lateAfterMs,
      };
      const query = store.upsertSchedule({ ...given, name, pipeline: pipeline.name, nextSlot });
      return schedulesOf((await runQuery(client, query)).rows)[0]!;
    },
    true,
  );
};

const remove = (name: string, options: SiteOptions = {}): Promise<void> =>
  withBookkeeping(options, (client) => changeOne(client, name, store.deleteSchedule(name)));

const pause = (name: string, options: SiteOptions = {}): Promise<void> =>
  withBookkeeping(options, (client) => changeOne(client, name, store.pauseSchedule(name)));

const resume = (name: string, options: SiteOptions = {}): Promise<void> =>
  withBookkeeping(options, (client) =>
    withTransaction(client, async () => {
      const { cron, timeZone, paused } = await lockOne(client, name);
      if (!paused) return;
      const calendar = cron === null ? undefined : readCalendar(name, cron, timeZone);
      const nextSlot = await nextSlotOf(client, calendar);
      await runQuery(client, store.resumeSchedule(name, nextSlot));
    }),
  );

const runNow = async (name: string, options: SiteOptions = {}): Promise<AddedRun> => {
  const { address, queues } = await openSite(options);
  return withClient(address, async (client) => {
    const added = await withTransaction(client, async () => {
      const row = await lockOne(client, name);
      if (row.job !== null && (await isBusy(queues, row))) return { job: row.job, isNew: false };
      const job = store.jobByHand(name, randomUUID());
      const asked = { name, slot: row.now, first: undefined, outcome: 'asked for', job } as const;
      await runQuery(client, store.recordDecision(asked));
      return { job, isNew: true };
    });
    await enqueuePending(client, queues, { logger: options.logger ?? silentLogger, tracer: options.tracer });
    return added;
  });
};

const history = (name: string, options: ScheduleHistoryOptions = {}): Promise<readonly ScheduleSlot[]> =>
  withBookkeeping(options, (client) => listSlots(client, name, options.limit));

/** Schedules of a database: runs that its workers start at set times, or when files arrive. */
export const schedule = {
  /**
   * Sets a schedule, or replaces the schedule with this name, which stays paused if it was.
   *
   * Errors: ETL_SCHEDULE_INVALID (name, cron, time zone, on), those of the declaration and its
   * parameters, ETL_USAGE (the queue's name, a secret parameter), those of the server.
   */
  set,
  /**
   * Lists a schedule's newest slots and requested runs with their outcomes, newest first. Works for a
   * removed schedule, too. Errors: ETL_SCHEDULE_UNKNOWN.
   */
  history,
  /** Lists all schedules of the database, by name. Errors: those of the server. */
  list: (options: SiteOptions = {}): Promise<readonly Schedule[]> => withBookkeeping(options, listSchedules),
  /** Removes a schedule; its run stays on the queue. Errors: ETL_SCHEDULE_UNKNOWN. */
  remove,
  /** Skips slots until the schedule is resumed. Errors: ETL_SCHEDULE_UNKNOWN. */
  pause,
  /**
   * Continues with the next slot; skipped slots are not caught up. Errors: ETL_SCHEDULE_UNKNOWN.
   */
  resume,
  /**
   * Enqueues a run now, even if the schedule is paused. If a run of the schedule is waiting or
   * active, returns that run. Errors: ETL_SCHEDULE_UNKNOWN, those of server and queue.
   */
  runNow,
} as const;
