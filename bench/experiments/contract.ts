// What an experiment is: a published measurement of unlogged tables, repeated on a server of today.

import type { Check, Lab } from './lab.ts';

/** One way of doing the work: what was published of it, and what was measured here. */
export interface Side {
  readonly name: string;
  /** As in the publication, with its unit. */
  readonly published?: string;
  readonly seconds?: number;
  readonly rowsPerSecond?: number;
  readonly transactionsPerSecond?: number;
  /** Of write-ahead log: of the whole work, or of one transaction. */
  readonly logBytes?: number;
  readonly logBytesPerTransaction?: number;
}

/** One figure divided by another: what should agree on different machines. */
export interface Ratio {
  readonly name: string;
  /** Undefined: nobody published this one. */
  readonly published?: number;
  readonly measured: number;
}

/** What came of an experiment. */
export interface Findings {
  /** What was done, at which size. */
  readonly done: string;
  readonly sides: readonly Side[];
  readonly ratios: readonly Ratio[];
}

export interface Experiment {
  readonly number: number;
  readonly title: string;
  /** Who published what it repeats. */
  readonly source: string;
  /** Rows without a flag, with `--full` as published, and in the test. */
  readonly rows: { readonly usual: number; readonly full: number; readonly tiny: number };
  readonly run: (lab: Lab, rows: number) => Promise<Findings>;
}

/** An experiment that was run. */
export interface Result extends Findings {
  readonly number: number;
  readonly rows: number;
  readonly checks: readonly Check[];
}
