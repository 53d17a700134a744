// Options and result of verifyPipeline.

import type { RunOptions } from '../../run/options.ts';

/** Options of verifyPipeline. */
export interface VerifyOptions extends Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'workingDirectory' | 'signal'
> {
  /** Tables to verify. Default: all. */
  readonly tables?: readonly string[];
  /** Verify only files that this run loaded. Default: all files in production. */
  readonly run?: number;
}

/** A difference between a file and production. */
export interface VerifyDifference {
  /** Name of the file; null for all files of the table together. */
  readonly file: string | null;
  /** Name of the column; null for whole rows. */
  readonly column: string | null;
  /**
   * What differs.
   *
   * - records, rejected, filtered, rows: their numbers
   * - nulls, sum, checksum: the values of a column
   * - pairing: each column has the right values, but some are in wrong rows
   * - column: production does not have the column
   * - reading: csv-parse failed at a record for which no reject is recorded
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
  /** Value according to the files. */
  readonly expected: string;
  /** Value in production; for numbers of records and rejects, in the bookkeeping. */
  readonly found: string;
}

/** A file, column or table that was not compared. */
export interface NotVerified {
  /** Name of the file; null for the whole table. */
  readonly file: string | null;
  /** Name of the column; null for whole rows. */
  readonly column: string | null;
  /** Why it was not compared. */
  readonly reason: string;
}

/** Texts of a column that production does not keep character for character, as declared. */
export interface VerifyLoss {
  /** Name of the column. */
  readonly column: string;
  /** What is lost, such as `leading zeros`. */
  readonly what: string;
  /** Number of texts. */
  readonly cells: number;
  /** The first text, its file, the first line of its record, and what production has instead. */
  readonly example: {
    /** The text as the file has it. */
    readonly text: string;
    /** Name of the file. */
    readonly file: string;
    /** First line of the text's record, from 1. */
    readonly line: number;
    /** What production has instead; null is SQL's null. */
    readonly becomes: string | null;
  };
  /** What keeps the text. */
  readonly keep: string;
}

/** A recounted file. */
export interface VerifiedFile {
  /** Name of the file, as the run recorded it. */
  readonly file: string;
  /** The run that loaded the file. */
  readonly run: number;
  /** Records in the file, counted again. */
  readonly records: number;
  /** Rows that the file's records make. */
  readonly rows: number;
  /** Records of the file that the run rejected and nobody has corrected. */
  readonly rejected: number;
  /** Records of the file that the table's `filter` leaves out. */
  readonly filtered: number;
}

/** The result for one table. */
export interface VerifiedTable {
  /** Name of the table in the pipeline. */
  readonly table: string;
  /** 'not compared' if no rows of the table were compared. */
  readonly outcome: 'same' | 'different' | 'not compared';
  /**
   * file: each file was compared with its own rows · table: all files together were compared with
   * all rows · null: no rows were compared.
   */
  readonly by: 'file' | 'table' | null;
  /** Number of rows in production; null if they were not counted. */
  readonly rows: number | null;
  /** Number of compared columns. */
  readonly columns: number;
  /** The files that were read again. */
  readonly files: readonly VerifiedFile[];
  /** What differs between files and production; empty if nothing does. */
  readonly differences: readonly VerifyDifference[];
  /** Files and columns that were left out, and why. */
  readonly notCompared: readonly NotVerified[];
  /** What the declared types, null tokens and `trim` change in texts. Not a difference. */
  readonly losses: readonly VerifyLoss[];
}

/** The result of verifyPipeline. */
export interface VerifyReport {
  /** Name of the verified pipeline. */
  readonly pipeline: string;
  /** 'different' if one table is different, 'not compared' if no table was compared. */
  readonly outcome: VerifiedTable['outcome'];
  /** The result of each table, in declared order. */
  readonly tables: readonly VerifiedTable[];
  /** Duration of the comparison, in seconds. */
  readonly seconds: number;
}
