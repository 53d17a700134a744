// Properties of the `publish` modes, without SQL, because every thread that loads a pipeline file
// loads this file.

import type { AppendSpec, MergeSpec, PublishMode } from '../../core/declaration.ts';

export interface VersionTimes {
  readonly from: string;
  readonly to: string;
  /** Column with the start of validity; undefined: the start of the run, for all records. */
  readonly at: string | undefined;
}

/** Properties of one mode. Has functions, so it cannot be sent to threads or hashed. */
export interface Meaning {
  readonly name: PublishMode;
  readonly text: string;
  /** True if a run may add the rows of some files; false if every run supplies all rows. */
  readonly takesParts: boolean;
  /** True if the table and its rows are kept, so that its columns may evolve. */
  readonly stays: boolean;
  /** What happens to the rows of a loaded file that changed (`changed`) or disappeared (`gone`). */
  readonly changed: AppendSpec['changed'];
  readonly gone: AppendSpec['gone'];
  /** How a record's production rows are found; missing: all rows are replaced anyway. */
  readonly rowsKnownBy?: 'file' | 'key';
  /** Options that need the file of each row, as messages show them. */
  readonly fileNeed?: string | undefined;
  /** A run replaces whole partitions, and copies the rows of other listed files into them. */
  readonly replacesPartitions?: true;
  /** A run of some files may replace the table, or partitions, by new ones. */
  readonly mayExchange?: true;
  /** Two pipelines that load one file would duplicate its rows, so the second is refused. */
  readonly refusesTwice?: true;
  /** A file that cannot be loaded holds back only itself, unless the source declares otherwise. */
  readonly skipsBadFiles?: true;
  readonly mayBeDerived?: true;
  readonly lostByRefresh?: string | undefined;
  /** True if staging has a column that marks records that delete their key. */
  readonly deletes?: boolean;
  readonly merge?: MergeSpec;
  readonly versions?: VersionTimes;
  /** Explains why the row count differs from the record count; missing: each record is a row. */
  readonly whyNotRows?: (records: number, rows: number) => string;
}
