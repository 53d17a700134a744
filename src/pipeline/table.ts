// The tables of a pipeline as a user writes them, as TypeScript types.

import type { FilterSpec, SqlFile } from '../declaration.ts';
import type { AnyColumn, Column } from './column.ts';
import type { CsvSource } from './csv.ts';
import type { IndexDefinition } from './index-definition.ts';

export type Columns = Readonly<Record<string, AnyColumn>>;

export interface Guard {
  readonly rowsMin?: number;
  readonly shrinkMax?: `${number}%`;
}

interface CommonKeys<Name extends string> {
  readonly primaryKey?: readonly Name[];
  readonly indexes?: readonly IndexDefinition[];
  /** 'replace': readers see the old rows, then all the new ones. */
  readonly publish?: 'replace';
  /** Comment on the production table. */
  readonly comment?: string;
  /** Nothing is published when the table has fewer rows than `rowsMin`, or lost a larger share of them than `shrinkMax`,
   *  '50%' by default. false: it is published whatever it holds. */
  readonly guard?: Guard | false;
}

interface SourceKeys<Name extends string> extends CommonKeys<Name> {
  readonly source: CsvSource;
  /** Rejected records that are tolerated: a number, or a share such as '0.1%'. None by default. */
  readonly rejectLimit?: number | `${number}%`;
  readonly from?: undefined;
}

/** A table of typed columns, loaded from files. */
export interface TypedTable<Declared> extends SourceKeys<NoInfer<keyof Declared & string>> {
  readonly columns: Declared & Columns;
  /** none: rows go straight into the new logged table; slower to load, nothing to fill, nothing that a crash can take. */
  readonly staging?: 'typed' | 'none';
  /** Records that are wanted: present(…), oneOf(…), when(…), or a list. All by default. */
  readonly filter?: FilterSpec | readonly FilterSpec[];
  readonly transform?: undefined;
}

/** A table whose files land in staging as text, byte for byte; its SQL makes the rows. */
export interface TextTable extends SourceKeys<string> {
  readonly staging: 'text';
  readonly transform: SqlFile;
  readonly columns?: undefined;
  readonly filter?: undefined;
}

/** A table that SQL makes from other tables of the pipeline. */
export interface DerivedTable extends CommonKeys<string> {
  readonly from: readonly string[];
  readonly transform: SqlFile;
  readonly source?: undefined;
  readonly columns?: undefined;
  readonly staging?: undefined;
  readonly filter?: undefined;
  readonly rejectLimit?: undefined;
}

/** One table; `Declared` are its columns where it has any. */
export type Table<Declared> = TypedTable<Declared> | TextTable | DerivedTable;

/** The columns of each table; unknown where SQL makes them. */
export type Tables = Readonly<Record<string, unknown>>;

type RowValue<Declared> =
  Declared extends Column<infer Value, infer Nullable>
    ? Value | (Nullable extends true ? null : never)
    : unknown;

/** One row of a table with these columns; what SQL makes is not known here. */
export type RowOf<Declared> = unknown extends Declared
  ? Record<string, unknown>
  : { -readonly [Name in keyof Declared]: RowValue<Declared[Name]> };
