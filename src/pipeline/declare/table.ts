// TypeScript types of the tables that a user declares in definePipeline({ tables }).

import type { z } from 'zod';
import type { TestDefinition } from '../../publish/data-tests/contract.ts';
import type { Evolve, FilterSpec, LineageName } from '../../core/declaration.ts';
import type { SqlFile } from '../../core/hook.ts';
import type { AnyColumn, Column } from './column.ts';
import type { ServerColumn } from './server-column.ts';
import type { CsvSource } from './csv.ts';
import type { IndexDefinition } from './index-definition.ts';
import type { PartitionDefinition } from './partition-by.ts';
import type { Append, History, Merge, MergeRows, ReplaceTouched } from './publish-modes.ts';
import type { ZodObjectOf, ZodSchema } from './schema-types.ts';

/** The columns of a table, by name, in the order of the production table. */
export type Columns = Readonly<Record<string, AnyColumn | ServerColumn>>;

/** How few rows of a table may be published. A run that violates the guard publishes nothing. */
export interface Guard {
  /** Least number of rows. Default: 0. */
  readonly rowsMin?: number;
  /** Largest share of production's rows that one run may remove. Default: '50%'. */
  readonly shrinkMax?: `${number}%`;
}

/** A unique constraint with a name of your choice. */
export interface UniqueKey<Name extends string> {
  /** Columns whose values together are unique. */
  readonly columns: Name | readonly Name[];
  /** Default: `<table>_<columns>_key`. */
  readonly name?: string;
}

/** The table that a foreign key references. */
export interface Referenced {
  /** Schema of a table outside this pipeline. Leave it out for a table of this pipeline. */
  readonly schema?: string;
  /** Name of the referenced table. */
  readonly table: string;
  /** Default, only for a table of this pipeline: its primaryKey. */
  readonly columns?: string | readonly string[];
}

/** A foreign key: `{ columns: 'store_id', references: 'store.id' }`. */
export interface ForeignKey<Name extends string> {
  /** Columns of this table, in the order of the referenced columns. */
  readonly columns: Name | readonly Name[];
  /**
   * The referenced table and columns. Examples: 'store' (the primaryKey of table store),
   * 'store.id', 'public.store.id' (a table outside this pipeline), or { schema, table, columns }.
   */
  readonly references: string | Referenced;
  /**
   * What happens to a row when somebody deletes the row that it references. Default: 'no action',
   * which means that PostgreSQL refuses the delete.
   */
  readonly onDelete?: 'no action' | 'cascade' | 'set null';
  /** Default: `<table>_<columns>_fkey`. */
  readonly name?: string;
}

/** Rows on several nodes of Citus. */
interface Distribution<Name extends string> {
  /** Column whose value says on which node a row is. Keys must contain it. */
  readonly by: Name;
  /** Table of this pipeline, or 'schema.table', whose rows with the same value are on the same node. */
  readonly with?: string;
}

/** Keys of every table. `Name` is the union of its column names. */
interface CommonKeys<Name extends string> {
  /** Columns of the primary key. They cannot be nullable. Default: no primary key. */
  readonly primaryKey?: readonly Name[];
  /**
   * Indexes, built after the rows are inserted: `[index('day'), index('store', { unique: true })]`.
   */
  readonly indexes?: readonly IndexDefinition<Name>[];
  /**
   * Partitions the production table: `range('observed_at', 'month')`, `list('state')` or
   * `hash('id', 8)`. Default: not partitioned.
   */
  readonly partitionBy?: PartitionDefinition<Name>;
  /**
   * For a database with Citus: stores the rows on several nodes, by the values of a column, or
   * ('reference') a copy of all rows on each. `with`: a table of this pipeline, or 'schema.table',
   * whose rows with the same value are on the same node. Default: the table is local; one that
   * somebody distributed stays so.
   */
  readonly distribute?: 'reference' | Distribution<Name>;
  /** Check constraints, SQL conditions by constraint name: `{ price_positive: 'price > 0' }`. */
  readonly checks?: Readonly<Record<string, string>>;
  /** Unique constraints, each a column, a list of columns, or `{ columns, name }`. */
  readonly unique?: readonly (Name | readonly Name[] | UniqueKey<Name>)[];
  /** Foreign keys: `[{ columns: 'store_id', references: 'store.id' }]`. */
  readonly foreignKeys?: readonly ForeignKey<Name>[];
  /**
   * Data tests that the rows must pass before they are published:
   * `[expect.unique('id'), expect.notNull('email', { severity: 'warn' })]`.
   */
  readonly tests?: readonly TestDefinition<Name>[];
  /** Comment on the production table. Default: the existing comment is kept. */
  readonly comment?: string;
  /** Comments on columns: `{ price: 'in euro' }`. */
  readonly columnComments?: { readonly [Each in Name]?: string };
  /** Statistics targets of columns for `analyze`, from 0 to 10,000: `{ customer: 1000 }`. */
  readonly statistics?: { readonly [Each in Name]?: number };
  /** Storage parameters: `{ fillfactor: 80, autovacuum_vacuum_scale_factor: 0.02 }`. */
  readonly storage?: Readonly<Record<string, number | string | boolean>>;
  /** Tablespace of the table and all its indexes. */
  readonly tablespace?: string;
  /**
   * Nothing is published if the table has fewer than `rowsMin` rows, or lost a larger share of
   * production's rows than `shrinkMax`. Default: `{ rowsMin: 0, shrinkMax: '50%' }`. False: no
   * limit.
   */
  readonly guard?: Guard | false;
  /**
   * Number of replaced versions of the table to keep for `etl rollback`, 1 to 100. Default: none.
   */
  readonly keep?: number;
}

/** Keys of every table that is loaded from files. */
interface SourceKeys<Name extends string> extends CommonKeys<Name> {
  /** The files and how they are written: `csv('exports/*.csv', { delimiter: ';' })`. */
  readonly source: CsvSource;
  /**
   * Number or share of rejected records that a run tolerates: 100 or '0.1%'. With more rejects the
   * run publishes nothing. Default: 0.
   */
  readonly rejectLimit?: number | `${number}%`;
  /**
   * How a run changes the production table. Default: 'replace'.
   *
   * - 'replace': production contains exactly the rows of all files. With only: 'touched', a run
   *   replaces only the partitions with rows of new or changed files.
   * - 'append': a run adds the rows of new files.
   * - 'merge': a run inserts, updates and deletes rows by primary key, from the records of new
   *   files.
   * - 'history': like merge, but replaced versions of a row are kept with their time ranges.
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
   * What to do if a table that is not replaced (append, merge, history) has other columns in
   * production than those declared.
   *
   * - 'keep': the run fails. It changes nothing but rows: keys, indexes and constraints that other
   *   runs declared also stay.
   * - 'refuse' (default): the run fails.
   * - 'add': the run adds new columns that are nullable or have a default.
   * - 'retype': the run also changes column types to wider ones.
   */
  readonly evolve?: Evolve;
  /**
   * What to do with a file that has the same content as another file of the table.
   *
   * - 'refuse' (default): the run fails.
   * - 'load': both files are loaded.
   */
  readonly copies?: 'refuse' | 'load';
  /** Only for derived tables, which have no `source`. */
  readonly from?: undefined;
}

/** A table of typed columns, loaded from files. */
export interface TypedTable<Declared> extends SourceKeys<NoInfer<keyof Declared & string> | LineageName> {
  /** Columns by name: `{ id: column.bigint('Id'), note: column.text('Note').nullable() }`. */
  readonly columns: Declared & Columns;
  /**
   * Adds columns that tell where each row comes from. True: all four. Default: none.
   *
   * - _file: id of the file, `file_id` in etl.published_file
   * - _line: line of the file at which the record starts
   * - _loaded_at: start of the run that loaded the record
   * - _run: id of that run
   */
  readonly lineage?: boolean | readonly LineageName[];
  /**
   * Where rows are loaded.
   *
   * - 'typed' (default): into an unlogged staging table, then copied into the new table.
   * - 'none': directly into the new, logged table. Loading is slower, but nothing is copied, and a
   *   crash of the server loses no rows.
   */
  readonly staging?: 'typed' | 'none';
  /**
   * What to do with a file that lacks the field of a column or filter.
   *
   * - 'error' (default): the run fails.
   * - 'null': all values of the field are missing, so the column gets its default, or null. The run
   *   still fails if the column has no default and is not nullable.
   */
  readonly missing?: 'error' | 'null';
  /** For fields that no column or filter names. 'ignore' (default), or 'error': the run fails. */
  readonly extra?: 'ignore' | 'error';
  /**
   * Which records to load: present(…), oneOf(…), when(…), or a list of filters that must all match.
   * Default: all records.
   */
  readonly filter?: FilterSpec | readonly FilterSpec[];
  /** Only for `staging: 'text'` and for derived tables: the declared columns make the rows. */
  readonly transform?: undefined;
  /** Only for rows that SQL makes: the declared columns have their types. */
  readonly row?: undefined;
}

/** Column names that other keys may use; any text if SQL makes undeclared columns. */
type NameOf<Declared> = unknown extends Declared ? string : keyof Declared & string;

interface RowKey<Declared> {
  /**
   * The columns that the SQL returns, as JavaScript values: `z.object({ day: z.string() })`. A run
   * fails if the SQL returns other columns or types.
   */
  readonly row?: ZodObjectOf<Declared & Readonly<Record<string, ZodSchema>>>;
}

/** A table whose files are staged unchanged, every field as text. Its SQL file makes the rows. */
export interface TextTable<Declared> extends SourceKeys<NoInfer<NameOf<Declared>>>, RowKey<Declared> {
  /** 'text': every field is loaded as text, and `transform` makes typed rows of them. */
  readonly staging: 'text';
  /** One SELECT that reads the staged texts and returns the rows: `sqlFile('sale.sql')`. */
  readonly transform: SqlFile;
  /** Not with `staging: 'text'`: the SELECT makes the columns. */
  readonly columns?: undefined;
  /** Not with `staging: 'text'`: the SELECT chooses the rows. */
  readonly filter?: undefined;
  /** Not with `staging: 'text'`, which declares no fields. */
  readonly missing?: undefined;
  /** Not with `staging: 'text'`, which declares no fields. */
  readonly extra?: undefined;
  /** Not with `staging: 'text'`: the SELECT makes the columns. */
  readonly lineage?: undefined;
}

/** A table that SQL makes from other tables of the pipeline. */
export interface DerivedTable<Declared, TableName extends string>
  extends CommonKeys<NoInfer<NameOf<Declared>>>, RowKey<Declared> {
  /** The tables of this pipeline that the SQL reads. They are built first. */
  readonly from: readonly NoInfer<TableName>[];
  /** One SELECT that returns the rows: `sqlFile('revenue.sql')`. */
  readonly transform: SqlFile;
  /**
   * How a run changes the production table.
   *
   * - 'replace' (default): the table contains exactly the rows of its SELECT.
   * - 'merge': the rows are merged by primary key. The SELECT can then read `<table>_new` and
   *   `<table>_old`: the rows that the run adds to, and removes from, a table of `from`.
   */
  readonly publish?: 'replace' | 'merge' | MergeRows<NoInfer<NameOf<Declared>>>;
  /** Not in a derived table, whose rows come from the tables in `from`. */
  readonly source?: undefined;
  /** Not in a derived table: the SELECT makes the columns, and `row` can give their types. */
  readonly columns?: undefined;
  /** Not in a derived table, which loads no files. */
  readonly staging?: undefined;
  /** Not in a derived table: the SELECT chooses the rows. */
  readonly filter?: undefined;
  /** Not in a derived table, which loads no records. */
  readonly rejectLimit?: undefined;
  /** Not in a derived table: the SELECT makes the columns. */
  readonly lineage?: undefined;
}

/** One table. `Declared` is the type of its columns, or of its `row`. */
export type Table<Declared, TableName extends string = string> =
  | TypedTable<Declared>
  | TextTable<Declared>
  | DerivedTable<Declared, TableName>;

/**
 * The columns of each table, by table name: unknown if SQL makes them and no `row` declares them.
 */
export type Tables = Readonly<Record<string, unknown>>;

type RowValue<Declared> =
  Declared extends Column<infer Value, infer Nullable>
    ? Value | (Nullable extends true ? null : never)
    : Declared extends ZodSchema
      ? z.output<Declared>
      : unknown;

/** One row of a table with these columns, without columns that the server fills. */
export type RowOf<Declared> = unknown extends Declared
  ? Record<string, unknown>
  : {
      -readonly [Name in keyof Declared as Declared[Name] extends ServerColumn ? never : Name]: RowValue<
        Declared[Name]
      >;
    };
