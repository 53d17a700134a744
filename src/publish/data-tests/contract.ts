// Types of a data test's kind, which turns a declared test into SQL.
//
// The SQL runs with only pg_catalog on the search path, so operators of other types are written
// with their schema (`TestedColumn`).

import type { Severity, TestSpec } from '../../core/data-test.ts';

/** Options of every test. */
export interface TestOptions {
  /** error (default): a failing test prevents publishing. warn: the run reports and publishes. */
  readonly severity?: Severity;
  /** Failing rows to tolerate: a number, or a share of rows such as '0.1%'. Default: none. */
  readonly max?: number | `${number}%`;
  /** Name of the test, unique in its table. Default: made from its kind and columns. */
  readonly name?: string;
}

/** A test as an author wrote it. definePipeline checks it, so that problems name the table. */
export interface TestDefinition<Name extends string = string> {
  /** Marks a data test, as made by a function of `expect`. */
  readonly kind: 'test';
  /** The function of `expect` that made the test, such as 'unique'. */
  readonly test: string;
  /** Columns that the test reads. */
  readonly columns: readonly Name[];
  /** What this kind of test compares with, such as the accepted values. */
  readonly of: Readonly<Record<string, unknown>>;
  /** Options as given, without defaults. */
  readonly options: TestOptions;
}

/** Options of a test of the whole table, which has no failing rows to tolerate. */
export type WholeOptions = Omit<TestOptions, 'max'>;

export const defineTest = <Name extends string>(
  test: string,
  columns: readonly Name[],
  of: Readonly<Record<string, unknown>>,
  options: TestOptions | WholeOptions,
): TestDefinition<Name> => ({ kind: 'test', test, columns, of, options });

/** What a declaration says about a column. */
export interface DeclaredColumn {
  readonly isText: boolean;
  readonly isTime: boolean;
  readonly isOrdered: boolean;
}

/** What a kind can ask in `read` about the declaration. */
export interface Asked {
  /** Adds a problem: a text that is appended to the name of the test. */
  readonly add: (problem: string) => void;
  /** Undefined if SQL makes the column, or if only the server knows its type. */
  readonly column: (name: string) => DeclaredColumn | undefined;
  /** Returns the SQL text of a column's value; undefined after it added a problem. */
  readonly text: (what: string, column: string, value: unknown) => string | undefined;
  /** Tables of the pipeline, with their column names as far as they are known. */
  readonly tables: ReadonlyMap<string, readonly string[] | undefined>;
}

/** A column as the server describes it. */
export interface TestedColumn {
  readonly name: string;
  readonly type: string;
  readonly isText: boolean;
  /** Operators with schema, such as `operator(public.=)` for citext. Null: the type has none. */
  readonly equals: string | null;
  readonly less: string | null;
}

/** A table in SQL: a quoted name, or a query in parentheses. */
export interface Relation {
  readonly rows: string;
  readonly columns: readonly TestedColumn[];
}

/** The table to test. SQL calls a row `_etl_row` (`row`). */
export interface Tested extends Relation {
  /** All rows that production has or will have. */
  readonly rows: string;
  /** The rows that the run supplies; equals `rows` if the run supplies all. */
  readonly brought: string;
  /** SQL: true for current rows, in a table that keeps earlier versions. */
  readonly current: string;
  /** Column lists that a primary key or unique constraint covers. */
  readonly keys: readonly (readonly string[])[];
  /** Rows in production before the run; null: unknown. */
  readonly before: number | null;
  /** Other tables that tests reference, by the names that `other` of the test's kind returns. */
  readonly others: ReadonlyMap<string, Relation>;
  /** The SQL of each test that has an SQL file, by test name. */
  readonly sql: ReadonlyMap<string, string>;
  /** Search path for the SQL of authors. */
  readonly path: readonly string[];
}

/** Alias of a row in the SQL of tests. Has our prefix, because a column named so would hide it. */
export const row = '_etl_row';

/** A test that cannot run on this table: the message says why, without asking the server. */
export class TestMisfit extends Error {}

interface KindOf {
  /** Creates the test in a declaration. */
  readonly define: (...given: never[]) => TestDefinition<any>;
  /** Checks and returns the options of the test; undefined after a problem. */
  readonly read: (
    written: Pick<TestDefinition, 'columns' | 'of'>,
    asked: Asked,
  ) => Readonly<Record<string, unknown>> | undefined;
  /** Text in the parentheses of the test's name. Default: its columns. */
  readonly about?: (spec: Pick<TestSpec, 'of'>) => string;
}

/** Tests each row that the run supplies. */
export interface RowKind extends KindOf {
  readonly per: 'row';
  /** SQL: true if a row fails; null counts as a pass. Errors: TestMisfit. */
  readonly fails: (spec: TestSpec, columns: readonly TestedColumn[]) => string;
  /** What is wrong with the rows, after their number. */
  readonly problem: (spec: TestSpec) => string;
}

/** Tests a table as a whole. */
export interface TableKind extends KindOf {
  readonly per: 'table';
  /** SQL: an aggregate over all rows, as text. Errors: TestMisfit. */
  readonly value: (spec: TestSpec, columns: readonly TestedColumn[]) => string;
  /** What is wrong with the value; undefined: nothing. `before`: row count before the run. */
  readonly problem: (spec: TestSpec, value: string | null, before: number | null) => string | undefined;
}

/** Selects failing rows with a query of its own. */
export interface SetKind extends KindOf {
  readonly per: 'set';
  /** The rows that a tolerated share refers to: those that the run supplies, or all. */
  readonly over: (spec: TestSpec) => 'brought' | 'all';
  /** SQL: one query; undefined if no row can fail. Errors: TestMisfit. */
  readonly failing: (spec: TestSpec, tested: Tested) => string | undefined;
  readonly problem: (spec: TestSpec) => string;
  /** Other tables that the test needs: names of the pipeline's tables, or `schema.table`. */
  readonly other?: (spec: TestSpec) => readonly string[];
  /** True for a query that an author wrote: it runs on the author's search path. */
  readonly isAuthors?: true;
}

export type TestKind = RowKind | TableKind | SetKind;

/** Returns the column. Errors: TestMisfit if it does not exist. */
export const columnOf = (columns: readonly TestedColumn[], name: string): TestedColumn => {
  const found = columns.find((column) => column.name === name);
  if (found === undefined) throw new TestMisfit(`the table has no column ${name}`);
  return found;
};
