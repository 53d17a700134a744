// The tables of a pipeline as a user writes them, as TypeScript types.

import type { z } from 'zod';
import type { TestDefinition } from '../../publish/data-tests/contract.ts';
import type {
  AppendSpec,
  Evolve,
  FilterSpec,
  HistorySpec,
  LineageName,
  MergeSpec,
} from '../../core/declaration/declaration.ts';
import type { SqlFile } from '../../core/declaration/hook.ts';
import type { AnyColumn, Column } from './column.ts';
import type { ServerColumn } from './server-column.ts';
import type { CsvSource } from './csv.ts';
import type { IndexDefinition } from './index-definition.ts';
import type { PartitionDefinition } from './partition-by.ts';
import type { ZodObjectOf, ZodSchema } from './schema-types.ts';

export type Columns = Readonly<Record<string, AnyColumn | ServerColumn>>;

export interface Guard {
  readonly rowsMin?: number;
  readonly shrinkMax?: `${number}%`;
}

/** A unique constraint with a name of its own. */
export interface UniqueKey<Name extends string> {
  readonly columns: Name | readonly Name[];
  readonly name?: string;
}

/** A table that a foreign key refers to: of this pipeline, or of another schema. */
export interface Referenced {
  readonly schema?: string;
  readonly table: string;
  /** Its primaryKey by default, if it is a table of this pipeline. */
  readonly columns?: string | readonly string[];
}

export interface ForeignKey<Name extends string> {
  readonly columns: Name | readonly Name[];
  /** 'store' (its primaryKey), 'store.id', 'public.store.id', or { schema, table, columns }. */
  readonly references: string | Referenced;
  /** What becomes of a row when the one that it refers to is deleted: no action (the deletion is refused), by default. */
  readonly onDelete?: 'no action' | 'cascade' | 'set null';
  /** `<table>_<columns>_fkey` by default. */
  readonly name?: string;
}

interface CommonKeys<Name extends string> {
  readonly primaryKey?: readonly Name[];
  readonly indexes?: readonly IndexDefinition<Name>[];
  /** Divides production: range('observed_at', 'month'), list('state') or hash('id', 8). */
  readonly partitionBy?: PartitionDefinition<Name>;
  /** Conditions of SQL that no row may make false, by the names of their constraints: `{ price_positive: 'price > 0' }`. */
  readonly checks?: Readonly<Record<string, string>>;
  /** Unique constraints: a column, a list of columns, or `{ columns, name }`. */
  readonly unique?: readonly (Name | readonly Name[] | UniqueKey<Name>)[];
  /** Foreign keys to tables of this pipeline, or to others: `{ columns: 'store_id', references: 'store.id' }`. */
  readonly foreignKeys?: readonly ForeignKey<Name>[];
  /** What its rows are tested for before they are published: `[expect.unique('id'), expect.notNull('email', { severity: 'warn' })]`. */
  readonly tests?: readonly TestDefinition<Name>[];
  /** Comment on the production table. */
  readonly comment?: string;
  /** Comments on its columns: `{ price: 'in euro' }`. */
  readonly columnComments?: { readonly [Each in Name]?: string };
  /** Statistics targets of columns, for the planner: `{ customer: 1000 }`. */
  readonly statistics?: { readonly [Each in Name]?: number };
  /** Storage parameters of the table: `{ fillfactor: 80, autovacuum_vacuum_scale_factor: 0.02 }`. */
  readonly storage?: Readonly<Record<string, number | string | boolean>>;
  /** Of the table and all its indexes. */
  readonly tablespace?: string;
  /** Nothing is published when the table has fewer rows than `rowsMin`, or lost a larger share of them than `shrinkMax`,
   *  '50%' by default. false: it is published whatever it holds. */
  readonly guard?: Guard | false;
  /** Earlier versions that are kept when the table is replaced, for `etl rollback`. None by default. */
  readonly keep?: number;
}

/** A way of publishing, with its choices: 'error' and 'keep' by default. */
type Append = Pick<AppendSpec, 'mode'> & Partial<AppendSpec>;

/** Only partitions that rows of new and changed files belong to are replaced, by the rows of the files that are listed. */
interface ReplaceTouched {
  readonly mode: 'replace';
  readonly only: 'touched';
}

/** How the rows that SQL makes are merged by primary key. */
interface MergeRows<Name extends string> {
  readonly mode: 'merge';
  /** Columns of an existing row that change; all by default. A new row has all of them in any case. */
  readonly update?: readonly Name[];
  /** A row with a smaller value of this column loses against the one that is there; null is the smallest. */
  readonly newer?: Name;
  /** upsert: rows that change are written where they are · rebuild: the table is built again and swapped, if nothing depends on it.
   *  What costs less by default. */
  readonly by?: MergeSpec['by'];
}

/** How records are merged by primary key. */
interface Merge<Name extends string> extends MergeRows<Name> {
  /** A file that changed since it was loaded: an error, which is the default, merged again, or left. */
  readonly changed?: MergeSpec['changed'];
  /** Rows of a file that is no longer there stay. */
  readonly gone?: MergeSpec['gone'];
  /** Records that delete the row of their key: present(…), oneOf(…), when(…), or a list, of which all must hold. */
  readonly deleted?: FilterSpec | readonly FilterSpec[];
  /** Two records of a key in one run. last: the last one counts, in the order of the files, which is the default · reject: an error. */
  readonly twice?: MergeSpec['twice'];
}

/** How versions of rows are kept by primary key. */
interface History<Name extends string> extends Partial<
  Pick<HistorySpec, 'from' | 'to' | 'changed' | 'gone'>
> {
  readonly mode: 'history';
  /** The column that says when a record became valid; when the run started by default. */
  readonly at?: Name;
  /** Records that end the version of their key: present(…), oneOf(…), when(…), or a list, of which all must hold. */
  readonly deleted?: FilterSpec | readonly FilterSpec[];
}

interface SourceKeys<Name extends string> extends CommonKeys<Name> {
  readonly source: CsvSource;
  /** Rejected records that are tolerated: a number, or a share such as '0.1%'. None by default. */
  readonly rejectLimit?: number | `${number}%`;
  /**
   * replace: production has the rows of all files, every time; only: 'touched': in the partitions that new and changed files touch · append: files that are new are put beside what is there. changed: a
   * file that changed since is an error, loaded again, or left as it is · gone: rows of a file that is no longer there stay, or go ·
   * merge: records of files that are new take the place of rows with their primary key · history: the same, and earlier versions of a
   * row stay, each with the time from which and to which it was valid.
   */
  readonly publish?:
    | 'replace'
    | 'append'
    | 'merge'
    | 'history'
    | ReplaceTouched
    | Append
    | Merge<Name>
    | History<Name>;
  /**
   * What a run makes of columns that differ from those of a table that stays. refuse: nothing, it stops · add: columns that allow null
   * or have a default are added · retype: types are also changed to wider ones.
   */
  readonly evolve?: Evolve;
  /** A file that has the same content as another file of the table, under another name. refuse: the run stops, which is the default ·
   *  load: its records are loaded, too. */
  readonly copies?: 'refuse' | 'load';
  readonly from?: undefined;
}

/** A table of typed columns, loaded from files. */
export interface TypedTable<Declared> extends SourceKeys<NoInfer<keyof Declared & string> | LineageName> {
  readonly columns: Declared & Columns;
  /**
   * Columns that say where each row is from; true: all of them. _file: id of its file in etl.published_file · _line: line of the file
   * at which its record starts · _loaded_at: when the run started · _run: id of the run.
   */
  readonly lineage?: boolean | readonly LineageName[];
  /** none: rows go straight into the new logged table; slower to load, nothing to fill, nothing that a crash can take. */
  readonly staging?: 'typed' | 'none';
  /** A file without the field of a column or filter. error: it ends the run, which is the default · null: every value is missing, so
   *  that it becomes the column's default, or null. A column that has neither is never missing. */
  readonly missing?: 'error' | 'null';
  /** A file with a field that no column and no filter names. ignore: the default · error: it ends the run. */
  readonly extra?: 'ignore' | 'error';
  /** Records that are wanted: present(…), oneOf(…), when(…), or a list. All by default. */
  readonly filter?: FilterSpec | readonly FilterSpec[];
  readonly transform?: undefined;
  readonly row?: undefined;
}

/** Columns that may be named; any, where none are declared. */
type NameOf<Declared> = unknown extends Declared ? string : keyof Declared & string;

/** The columns that the SQL gives, as a z.object of their JavaScript values: checked when the table is built. */
interface RowKey<Declared> {
  readonly row?: ZodObjectOf<Declared & Readonly<Record<string, ZodSchema>>>;
}

/** A table whose files land in staging as text, byte for byte; its SQL makes the rows. */
export interface TextTable<Declared> extends SourceKeys<NoInfer<NameOf<Declared>>>, RowKey<Declared> {
  readonly staging: 'text';
  readonly transform: SqlFile;
  readonly columns?: undefined;
  readonly filter?: undefined;
  readonly missing?: undefined;
  readonly extra?: undefined;
  readonly lineage?: undefined;
}

/** A table that SQL makes from other tables of the pipeline. */
export interface DerivedTable<Declared, TableName extends string>
  extends CommonKeys<NoInfer<NameOf<Declared>>>, RowKey<Declared> {
  readonly from: readonly NoInfer<TableName>[];
  readonly transform: SqlFile;
  /**
   * replace: readers see the old rows, then all the new ones · merge: its rows are merged by primary key, and its SQL may read
   * `<table>_new`, the rows that the run brings to a table.
   */
  readonly publish?: 'replace' | 'merge' | MergeRows<NoInfer<NameOf<Declared>>>;
  readonly source?: undefined;
  readonly columns?: undefined;
  readonly staging?: undefined;
  readonly filter?: undefined;
  readonly rejectLimit?: undefined;
  readonly lineage?: undefined;
}

/** One table; `Declared` are its columns, or the shape of its `row`. */
export type Table<Declared, TableName extends string = string> =
  | TypedTable<Declared>
  | TextTable<Declared>
  | DerivedTable<Declared, TableName>;

/** The columns of each table; unknown where SQL makes them and no `row` declares them. */
export type Tables = Readonly<Record<string, unknown>>;

type RowValue<Declared> =
  Declared extends Column<infer Value, infer Nullable>
    ? Value | (Nullable extends true ? null : never)
    : Declared extends ZodSchema
      ? z.output<Declared>
      : unknown;

/** One row of a table with these columns, as files have it; not known where none are declared. */
export type RowOf<Declared> = unknown extends Declared
  ? Record<string, unknown>
  : {
      -readonly [Name in keyof Declared as Declared[Name] extends ServerColumn ? never : Name]: RowValue<
        Declared[Name]
      >;
    };
