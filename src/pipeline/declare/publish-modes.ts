// TypeScript types of the modes that a table can declare in `publish`.

import type { AppendSpec, FilterSpec, HistorySpec, MergeSpec } from '../../core/declaration.ts';

/**
 * Appends the rows of new files. `changed` says what to do with a file that changed since it was
 * loaded: 'error' (default), 'reload' or 'ignore'. `gone` says what to do with the rows of a file
 * that no longer exists: 'keep' (default) or 'unload'.
 */
export type Append = Pick<AppendSpec, 'mode'> & Partial<AppendSpec>;

/**
 * Replaces only the partitions that contain rows of new or changed files. Needs partitionBy with
 * range(…) or list(…).
 */
export interface ReplaceTouched {
  /** 'replace': the rows of new and changed files replace those of their earlier versions. */
  readonly mode: 'replace';
  /** 'touched': partitions without such rows stay as they are. */
  readonly only: 'touched';
}

/** Merges the rows that SQL makes into production, by primary key. */
export interface MergeRows<Name extends string> {
  /** 'merge': rows replace the rows in production with the same primary key. */
  readonly mode: 'merge';
  /** Columns of an existing row to update. Default: all. A new row always gets all columns. */
  readonly update?: readonly Name[];
  /**
   * A column that compares versions: a row replaces an existing row only if its value is not
   * smaller. Null is the smallest value.
   */
  readonly newer?: Name;
  /**
   * How rows are merged. Default: whichever costs less.
   *
   * - 'upsert': changed rows are updated in place.
   * - 'rebuild': the table is rebuilt and swapped, unless other objects depend on it.
   */
  readonly by?: MergeSpec['by'];
}

/** Merges the records of new files into production, by primary key. */
export interface Merge<Name extends string> extends MergeRows<Name> {
  /** For a file that changed since it was loaded: fail (default), merge it again, or ignore it. */
  readonly changed?: MergeSpec['changed'];
  /** Rows of a file that no longer exists are always kept. */
  readonly gone?: MergeSpec['gone'];
  /**
   * Records that delete the row with their key: present(…), oneOf(…), when(…), or a list of filters
   * that must all match.
   */
  readonly deleted?: FilterSpec | readonly FilterSpec[];
  /**
   * What to do with several records of one key in one run.
   *
   * - 'last' (default): the last record counts, in the order of files and lines.
   * - 'reject': the run fails.
   */
  readonly twice?: MergeSpec['twice'];
}

/** Keeps every version of a row, by primary key, each with the time range in which it was valid. */
export interface History<Name extends string> extends Partial<
  Pick<HistorySpec, 'from' | 'to' | 'changed' | 'gone'>
> {
  /** 'history': rows become new versions of the rows with the same primary key. */
  readonly mode: 'history';
  /** The column with the time at which a record became valid. Default: the start of the run. */
  readonly at?: Name;
  /**
   * Records that end the current version of their key: present(…), oneOf(…), when(…), or a list of
   * filters that must all match.
   */
  readonly deleted?: FilterSpec | readonly FilterSpec[];
}
