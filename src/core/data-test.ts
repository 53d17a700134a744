// Data tests: what a pipeline declares about the rows of a table, and the results.

export const severities = ['warn', 'error'] as const;
export type Severity = (typeof severities)[number];

/** A limit as a number of rows or records, or in percent of them. */
export type RowLimit =
  | {
      /** The limit is a number. */
      readonly kind: 'count';
      /** Rows or records that are tolerated. */
      readonly records: number;
    }
  | {
      /** The limit is a share. */
      readonly kind: 'percent';
      /** Percent of all rows or records that are tolerated: 0.1 means one in a thousand. */
      readonly percent: number;
    };

/** A test of a table, as a pipeline declares it. */
export interface TestSpec {
  /** A name of publish/data-tests/registry.ts, such as 'unique'. */
  readonly kind: string;
  /** Unique among the tests of the table. */
  readonly name: string;
  /** Columns that the test reads. */
  readonly columns: readonly string[];
  /** Options of this kind of test, such as the `values` that are accepted. */
  readonly of: Readonly<Record<string, unknown>>;
  readonly severity: Severity;
  /** Failing rows that still let the test pass. */
  readonly max: RowLimit;
}

/** A row that failed a data test. */
export interface FailingRow {
  /** File that the row came from; null if the table has no columns `_file` and `_line`. */
  readonly file: string | null;
  /** Line of the file at which the row's record starts, from 1; null if not known. */
  readonly line: number | null;
  /** Values by column as text. Long texts are cut, and only the first columns are kept. */
  readonly values: Readonly<Record<string, string | null>>;
}

/** The result of one data test. */
export interface DataTestResult {
  /** Table that was tested. */
  readonly table: string;
  /** Name of the test, unique in its table. */
  readonly test: string;
  /** Which function of `expect` made the test, such as 'unique'. */
  readonly kind: string;
  /** What a failure means: 'error' prevents publishing, 'warn' is only reported. */
  readonly severity: Severity;
  /** warned: the test failed, but its severity is 'warn'. */
  readonly outcome: 'passed' | 'warned' | 'failed';
  /** Number of failing rows; 0 or 1 for a test of the table as a whole, such as `rows`. */
  readonly failures: number;
  /** What is wrong, even if `max` tolerates it; null if nothing is wrong. */
  readonly problem: string | null;
  /** Some of the failing rows, in no particular order. */
  readonly rows: readonly FailingRow[];
  /** Duration of the test's queries, in seconds. */
  readonly seconds: number;
}
