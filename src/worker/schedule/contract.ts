// Arguments and results of the functions about schedules. Types alone, for they are the library's.

import type { SiteOptions } from '../options.ts';

/** What became of a slot. */
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
  /** Run once for the slots that were missed while no worker ran. Default: they are left out. */
  readonly catchUp?: boolean;
  /** From 1, which comes first; runs without one go before all that have one. */
  readonly priority?: number;
  /** Which workers are to do its runs: those that serve this queue. Default: `default`. */
  readonly queue?: string;
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
  /** The next five slots, ISO 8601 in the schedule's zone; those that a pause would leave out, too. */
  readonly next: readonly string[];
  /** The newest slot that was dealt with, and how. */
  readonly lastSlot: string | null;
  readonly lastOutcome: SlotOutcome | null;
  /** The newest run asked for, and what became of it: pending, enqueued, published, unchanged or the code of an error. */
  readonly job: string | null;
  readonly jobState: string | null;
}
