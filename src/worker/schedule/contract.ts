// Arguments and results of the functions about schedules. Types only, because the library exports them.

import type { SiteOptions } from '../options.ts';

/** The outcome of a slot. */
export type SlotOutcome = 'enqueued' | 'skipped' | 'missed';

export interface ScheduleOptions extends SiteOptions {
  /** Five fields: minute, hour, day of month, month, day of week; a sixth in front of them is the second. */
  readonly cron: string;
  /** As the tz database names it, 'Europe/Berlin'. Default: UTC. */
  readonly timeZone?: string;
  /** Values for the pipeline's `params`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Directory that SQL files are relative to. Default: the working directory. */
  readonly directory?: string;
  /** Run once for slots that were missed while no worker ran. Default: skip them. */
  readonly catchUp?: boolean;
  /** From 1, which comes first; runs without one go before all that have one. */
  readonly priority?: number;
  /** The queue whose workers run it. Default: `default`. */
  readonly queue?: string;
  /** A slot is late when its run is not published this long after it. Default: only a slot that was missed is late. */
  readonly lateAfterMs?: number;
}

export interface Schedule {
  readonly name: string;
  readonly pipeline: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly cron: string;
  readonly timeZone: string;
  readonly priority: number | null;
  readonly catchUp: boolean;
  readonly paused: boolean;
  readonly queue: string;
  /** null: only a slot that was missed is late. */
  readonly lateAfterMs: number | null;
  /** The next five slots, ISO 8601 in the schedule's zone, even if paused. */
  readonly next: readonly string[];
  /** The newest handled slot, and its outcome. */
  readonly lastSlot: string | null;
  readonly lastOutcome: SlotOutcome | null;
  /** The newest requested run and its outcome: pending, enqueued, published, unchanged or an error code. */
  readonly job: string | null;
  readonly jobState: string | null;
}

export interface ScheduleHistoryOptions extends SiteOptions {
  /** At most so many; default: 20. The newest 1,000 are kept. */
  readonly limit?: number;
}

/** A slot of a schedule that was dealt with, or a run that somebody asked for. */
export interface ScheduleSlot {
  /** When it was due, or asked for. */
  readonly slot: Date;
  /** The first of the slots before it that were missed and are not caught up one by one; null: none. */
  readonly first: Date | null;
  /** skipped: a run of the schedule was still waiting or active. missed: no worker ran. */
  readonly outcome: SlotOutcome | 'asked for';
  readonly job: string | null;
  /** How its run ended: published, unchanged or the code of an error; null: it has none, or has not ended. */
  readonly state: string | null;
  /** Number of its run; null: none began. */
  readonly run: number | null;
}
