// What the `publish` of a table means, without SQL: every thread that loads a pipeline file loads this.

import type { AppendSpec, MergeSpec, PublishMode } from '../../core/declaration/declaration.ts';

/** The columns of the times of a version. */
export interface VersionTimes {
  readonly from: string;
  readonly to: string;
  /** The column that says when a record became valid; undefined: all records of a run did at once. */
  readonly at: string | undefined;
}

/** A mode, made for one table. It has functions, so it is never sent to a thread, nor hashed. */
export interface Meaning {
  readonly name: PublishMode;
  /** As users see it. */
  readonly text: string;
  /** A run may bring the rows of some files, beside those that are there; else it brings all rows. */
  readonly takesParts: boolean;
  /** The table stays with its rows, so its columns may evolve. */
  readonly stays: boolean;
  /** What becomes of a loaded file that changes, or that is gone. */
  readonly changed: AppendSpec['changed'];
  readonly gone: AppendSpec['gone'];
  /** What shows which rows of production belong to a record; undefined: all are replaced anyway. */
  readonly rowsKnownBy?: 'file' | 'key';
  /** The options that need the file of each row, in words; undefined: none does. */
  readonly fileNeed?: string | undefined;
  /** A run replaces whole partitions, and copies into them the rows of other listed files. */
  readonly replacesPartitions?: true;
  /** A run of some files may put a new table, or new partitions, in the place of old ones. */
  readonly mayExchange?: true;
  /** A file that two pipelines load would be there twice, so the second one is refused. */
  readonly refusesTwice?: true;
  /** SQL may make the table from others. */
  readonly mayBeDerived?: true;
  /** What a full refresh cannot bring back. */
  readonly lostByRefresh?: string | undefined;
  /** Staging has a column that says which records delete their key. */
  readonly deletes?: boolean;
  /** How a record changes the row with its key; undefined: it does not. */
  readonly merge?: MergeSpec;
  /** Undefined: rows have no versions. */
  readonly versions?: VersionTimes;
  /** Why the table has other rows than its files have records. Missing: each record is a row. */
  readonly whyNotRows?: (records: number, rows: number) => string;
}
