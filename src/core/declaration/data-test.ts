// Data tests as plain data: what a pipeline declares about the rows of a table, and the results.

export const severities = ['warn', 'error'] as const;
export type Severity = (typeof severities)[number];

/** Records or rows, or a share of them in percent. */
export type RowLimit =
  | { readonly kind: 'count'; readonly records: number }
  | { readonly kind: 'percent'; readonly percent: number };

/** A checked test of a table. */
export interface TestSpec {
  /** A name of the registry in check/. */
  readonly kind: string;
  /** Names it among the tests of its table. */
  readonly name: string;
  /** Columns of the table that it looks at. */
  readonly columns: readonly string[];
  /** What else it says: each kind names its own options. */
  readonly of: Readonly<Record<string, unknown>>;
  readonly severity: Severity;
  /** Failing rows that are tolerated. */
  readonly max: RowLimit;
}

/** A row that a test has found. */
export interface FailingRow {
  /** Where its record is, if the row has the columns `_file` and `_line`; otherwise null. */
  readonly file: string | null;
  readonly line: number | null;
  /** As texts, cut; a row of many columns has the first ones only. */
  readonly values: Readonly<Record<string, string | null>>;
}

/** What a test found in a table. */
export interface DataTestResult {
  readonly table: string;
  readonly test: string;
  readonly kind: string;
  readonly severity: Severity;
  /** warned: it failed, and its severity is 'warn'. */
  readonly outcome: 'passed' | 'warned' | 'failed';
  /** Failing rows; of a test of the table as a whole 1 or 0. */
  readonly failures: number;
  /** What is wrong, also when `max` tolerates it; null: nothing. */
  readonly problem: string | null;
  /** The first failing rows, in no order. */
  readonly rows: readonly FailingRow[];
  readonly seconds: number;
}
