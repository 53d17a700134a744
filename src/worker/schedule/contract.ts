// Types for the library: arguments and results of the functions for schedules, and their wording.

import type { SiteOptions } from '../options.ts';

/**
 * What became of a slot. skipped: a run of the schedule was still waiting or active · missed: no
 * worker ran.
 */
export type SlotOutcome = 'enqueued' | 'skipped' | 'missed';

/** Options of schedule.set: `cron` or `on` is required. */
export interface ScheduleOptions extends SiteOptions {
  /**
   * Five fields: minute, hour, day of month, month, day of week. With six fields, the first is the
   * second.
   */
  readonly cron?: string;
  /** Instead of `cron`: enqueues a run when files are new or changed, and ready. */
  readonly on?: 'files';
  /** With `on`: time between two looks at the files. Default: 10 s. */
  readonly everyMs?: number;
  /** A name of the tz database, such as 'Europe/Berlin'. Default: UTC. */
  readonly timeZone?: string;
  /** Values for the pipeline's `params`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Directory that SQL files are relative to. Default: the working directory. */
  readonly directory?: string;
  /** True: one run makes up for slots that were missed while no worker ran. Default: none. */
  readonly catchUp?: boolean;
  /** 1 comes first. A run without a priority comes before all runs with a priority. */
  readonly priority?: number;
  /** The queue whose workers run it. Default: `default`. */
  readonly queue?: string;
  /**
   * A slot is late if its run is not published in this time. Default: only a missed slot is late.
   */
  readonly lateAfterMs?: number;
}

/** A schedule as it is set, and what became of its newest slot and run. */
export interface Schedule {
  /** Name of the schedule, unique in its database. */
  readonly name: string;
  /** Name of the pipeline that the schedule runs. */
  readonly pipeline: string;
  /** Values of the pipeline's parameters, as given to schedule.set. */
  readonly params: Readonly<Record<string, unknown>>;
  /** null: it looks at files. */
  readonly cron: string | null;
  /** Time between two looks at the files; null: it has times. */
  readonly everyMs: number | null;
  /** Time zone of the times in `cron`; UTC if it looks at files. */
  readonly timeZone: string;
  /** Priority of its runs: 1 comes first. null: before all runs with a priority. */
  readonly priority: number | null;
  /** True if one run makes up for slots that were missed while no worker ran. */
  readonly catchUp: boolean;
  /** True while its slots are skipped, until schedule.resume. */
  readonly paused: boolean;
  /** The queue whose workers run it. */
  readonly queue: string;
  /** null: only a missed slot is late. */
  readonly lateAfterMs: number | null;
  /**
   * The next five slots, ISO 8601 in the schedule's zone, even if paused; none if it looks at
   * files.
   */
  readonly next: readonly string[];
  /** The newest handled slot, ISO 8601; null: there was none. */
  readonly lastSlot: string | null;
  /** What became of that slot; null: there was none. */
  readonly lastOutcome: SlotOutcome | null;
  /** Id of the job of the newest requested run; null: there was none. */
  readonly job: string | null;
  /** State of that run: pending, enqueued, published, unchanged or an error code. */
  readonly jobState: string | null;
  /** Code of the error of the newest look at the files; null: none. */
  readonly lookError: string | null;
}

/** Options of schedule.history. */
export interface ScheduleHistoryOptions extends SiteOptions {
  /** Maximum number of slots. Default: 20. The newest 1,000 are stored. */
  readonly limit?: number;
}

/** A handled slot of a schedule, or a run that was requested by hand. */
export interface ScheduleSlot {
  /** When the slot was due, or the run requested. */
  readonly slot: Date;
  /** If earlier slots were missed and are not caught up: the first of them; otherwise null. */
  readonly first: Date | null;
  /** skipped: a run of the schedule was still waiting or active. missed: no worker ran. */
  readonly outcome: SlotOutcome | 'asked for';
  /** Id of the slot's job on the queue; null: no run was enqueued. */
  readonly job: string | null;
  /** How the run ended: published, unchanged or an error code; null: no run, or not ended. */
  readonly state: string | null;
  /** Id of the slot's run; null: no run has started. */
  readonly run: number | null;
}
