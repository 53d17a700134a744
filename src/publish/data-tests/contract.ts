// A kind of data test: the port between a declaration and the SQL that tests a table.
//
// A kind gives SQL and nothing else. Its SQL runs with pg_catalog alone on the search path, so it takes the operators of a column from
// the column, which has them with their schemas.

import type { Severity, TestSpec } from '../../core/declaration/data-test.ts';

/** Options that every test has. */
export interface TestOptions {
  /** error: nothing is published, which is the default · warn: the run says so, and publishes. */
  readonly severity?: Severity;
  /** Failing rows that are tolerated: a number, or a share of the tested rows such as '0.1%'. None by default. */
  readonly max?: number | `${number}%`;
  /** Names it among the tests of its table; made from its kind and columns by default. */
  readonly name?: string;
}

/** A test as it was written; definePipeline checks it, so that problems name their table. */
export interface TestDefinition<Name extends string = string> {
  readonly kind: 'test';
  readonly test: string;
  readonly columns: readonly Name[];
  readonly of: Readonly<Record<string, unknown>>;
  readonly options: TestOptions;
}

/** A test of a table as a whole has no rows to tolerate. */
export type WholeOptions = Omit<TestOptions, 'max'>;

export const defineTest = <Name extends string>(
  test: string,
  columns: readonly Name[],
  of: Readonly<Record<string, unknown>>,
  options: TestOptions | WholeOptions,
): TestDefinition<Name> => ({ kind: 'test', test, columns, of, options });

/** What a definition knows of a column. */
export interface DeclaredColumn {
  readonly isText: boolean;
  readonly isTime: boolean;
  readonly isOrdered: boolean;
}

/** A definition whose tests are checked. */
export interface Asked {
  /** Adds a problem: a text that follows the test. */
  readonly add: (problem: string) => void;
  /** Undefined where SQL makes the column, or only the server knows its type. */
  readonly column: (name: string) => DeclaredColumn | undefined;
  /** The text of a value of a column, as SQL writes it; undefined after a problem. */
  readonly text: (what: string, column: string, value: unknown) => string | undefined;
  /** Tables of the pipeline, with the names of their columns as far as they are known. */
  readonly tables: ReadonlyMap<string, readonly string[] | undefined>;
}

/** A column as the server has it. */
export interface TestedColumn {
  readonly name: string;
  readonly type: string;
  readonly isText: boolean;
  /** Operators with their schemas: `operator(public.=)` of a citext. Null: the type has none. */
  readonly equals: string | null;
  readonly less: string | null;
}

/** A table, as SQL reads it: a quoted name, or a query in parentheses. */
export interface Relation {
  readonly rows: string;
  readonly columns: readonly TestedColumn[];
}

/** The table that is tested. Its rows are those of the alias `row` below. */
export interface Tested extends Relation {
  /** All rows that production has, or will have. */
  readonly rows: string;
  /** Rows that a run brings; the same where it brings all. */
  readonly brought: string;
  /** SQL that is true for rows that count now, of a table that keeps earlier versions. */
  readonly current: string;
  /** Columns of which a key holds that they are unique. */
  readonly keys: readonly (readonly string[])[];
  /** Rows before the run; null: nobody knows. */
  readonly before: number | null;
  /** Tables that tests refer to, by how `others` of their kind names them. */
  readonly others: ReadonlyMap<string, Relation>;
  /** Text of the SQL file of each test that has one, by its name. */
  readonly sql: ReadonlyMap<string, string>;
  /** Where the SQL of authors finds names without a schema. */
  readonly path: readonly string[];
}

/** The alias of a row in all SQL of tests; no column of ours begins so, and one of that name would hide the row. */
export const row = '_etl_row';

/** The server would not run a test, for a reason that it need not be asked for. */
export class TestMisfit extends Error {}

interface KindOf {
  /** The test as authors write it. */
  readonly define: (...given: never[]) => TestDefinition<any>;
  /** Its options as they are kept; undefined after a problem. */
  readonly read: (
    written: Pick<TestDefinition, 'columns' | 'of'>,
    asked: Asked,
  ) => Readonly<Record<string, unknown>> | undefined;
  /** For people, between the parentheses of its name; its columns by default. */
  readonly about?: (spec: Pick<TestSpec, 'of'>) => string;
}

/** Tests each row that a run brings. */
export interface RowKind extends KindOf {
  readonly per: 'row';
  /** Whether a row fails; null: it does not. Errors: TestMisfit. */
  readonly fails: (spec: TestSpec, columns: readonly TestedColumn[]) => string;
  /** For people, after a number of rows. */
  readonly problem: (spec: TestSpec) => string;
}

/** Tests a table as a whole. */
export interface TableKind extends KindOf {
  readonly per: 'table';
  /** An aggregate of all rows, as a text. Errors: TestMisfit. */
  readonly value: (spec: TestSpec, columns: readonly TestedColumn[]) => string;
  /** What is wrong with that value; undefined: nothing. */
  readonly problem: (spec: TestSpec, value: string | null, before: number | null) => string | undefined;
}

/** Selects the rows that fail. */
export interface SetKind extends KindOf {
  readonly per: 'set';
  /** Of which rows the failing ones are a share: those that a run brings, or all. */
  readonly over: (spec: TestSpec) => 'brought' | 'all';
  /** One query; undefined: it is known that no row fails. Errors: TestMisfit. */
  readonly failing: (spec: TestSpec, tested: Tested) => string | undefined;
  readonly problem: (spec: TestSpec) => string;
  /** Another table that it needs: a name of the pipeline's tables, or `schema.table`. */
  readonly other?: (spec: TestSpec) => readonly string[];
  /** The query is an author's: it is run on his search path. */
  readonly isAuthors?: true;
}

export type TestKind = RowKind | TableKind | SetKind;

/** Errors: TestMisfit for a column that is not there. */
export const columnOf = (columns: readonly TestedColumn[], name: string): TestedColumn => {
  const found = columns.find((column) => column.name === name);
  if (found === undefined) throw new TestMisfit(`the table has no column ${name}`);
  return found;
};
