// Options and result of a recount. Types only, because the library exports them.

import type { RunOptions } from '../../run/options.ts';

export interface VerifyOptions extends Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'workingDirectory' | 'signal'
> {
  /** Tables that are verified. Default: all. */
  readonly tables?: readonly string[];
  /** Only files that this run has brought into production. Default: all files in production. */
  readonly run?: number;
}

/** Where a file and production part. */
export interface VerifyDifference {
  /** null: of all files of the table together. */
  readonly file: string | null;
  /** null: of the rows as a whole. */
  readonly column: string | null;
  /**
   * records, rejected, filtered, rows: how many there are · nulls, sum, checksum: of a column's values · pairing: each column has the
   * values of the files, but rows have those of others · column: production has no such column · reading: csv-parse stopped.
   */
  readonly what:
    | 'records'
    | 'rejected'
    | 'filtered'
    | 'rows'
    | 'nulls'
    | 'sum'
    | 'checksum'
    | 'pairing'
    | 'column'
    | 'reading';
  /** By the recount of the files. */
  readonly expected: string;
  /** In production, or for records and rejects in the bookkeeping. */
  readonly found: string;
}

/** Something that was not compared. */
export interface NotVerified {
  /** null: the table as a whole. */
  readonly file: string | null;
  /** null: the rows as a whole. */
  readonly column: string | null;
  readonly reason: string;
}

/** A file that was read again. */
export interface VerifiedFile {
  readonly file: string;
  /** The run that has brought it into production. */
  readonly run: number;
  readonly records: number;
  readonly rows: number;
  readonly rejected: number;
  readonly filtered: number;
}

export interface VerifiedTable {
  readonly table: string;
  /** not compared: nothing of its rows was. */
  readonly outcome: 'same' | 'different' | 'not compared';
  /** Whether each file was compared with its own rows, or all together with those of the table; null: neither. */
  readonly by: 'file' | 'table' | null;
  /** In production; null: they were not counted. */
  readonly rows: number | null;
  /** Columns whose values were compared. */
  readonly columns: number;
  readonly files: readonly VerifiedFile[];
  readonly differences: readonly VerifyDifference[];
  readonly notCompared: readonly NotVerified[];
}

/** What a recount of a pipeline's files found in production. */
export interface VerifyReport {
  readonly pipeline: string;
  /** different: one of its tables is · not compared: all are. */
  readonly outcome: VerifiedTable['outcome'];
  readonly tables: readonly VerifiedTable[];
  readonly seconds: number;
}
