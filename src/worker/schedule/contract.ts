// Types for the library: arguments and results of the functions for schedules, and their wording.

import type { SiteOptions } from '../options.ts';

export type SlotOutcome = 'enqueued' | 'skipped' | 'missed';

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

export interface Schedule {
  readonly name: string;
  readonly pipeline: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** null: it looks at files. */
  readonly cron: string | null;
  /** Time between two looks at the files; null: it has times. */
  readonly everyMs: number | null;
  readonly timeZone: string;
  readonly priority: number | null;
  readonly catchUp: boolean;
  readonly paused: boolean;
  readonly queue: string;
  /** null: only a missed slot is late. */
  readonly lateAfterMs: number | null;
  /** The next five slots, ISO 8601 in the schedule's zone, even if paused; none if it looks at files. */
  readonly next: readonly string[];
  /** The newest handled slot, and its outcome. */
  readonly lastSlot: string | null;
  readonly lastOutcome: SlotOutcome | null;
  /**
   * The newest requested run. Its state: pending, enqueued, published, unchanged or an error code.
   */
  readonly job: string | null;
  readonly jobState: string | null;
  /** Code of the error of the newest look at the files; null: none. */
  readonly lookError: string | null;
}

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
  readonly job: string | null;
  /** How the run ended: published, unchanged or an error code; null: no run, or not ended. */
  readonly state: string | null;
  /** Id of the slot's run; null: no run has started. */
  readonly run: number | null;
}
