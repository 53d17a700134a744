// The tables of a run, as publishing sees them: declared and built.

import type { ConstraintSpec } from '../../core/constraint.ts';
import type { ColumnSpec, Evolve, Extent, PartitionSpec, SourceTableSpec } from '../../core/declaration.ts';
import type { TableNames } from '../../db/names.ts';
import type { Partition } from './bounds.ts';
import type { MadeByHand } from './by-hand.ts';
import type { Meaning } from './meaning.ts';

/** Returns the columns that production has. The others exist only in staging. */
export const publishedColumns = ({ columns }: Pick<SourceTableSpec, 'columns'>): readonly ColumnSpec[] =>
  columns.filter(({ stagedOnly }) => stagedOnly !== true);

export interface DeclaredTable extends TableNames {
  readonly primaryKey: readonly string[];
  readonly constraints: readonly ConstraintSpec[];
  readonly comment: string | undefined;
  readonly mode: Meaning;
  readonly evolve: Evolve;
  /** Empty if SQL makes the rows. */
  readonly declared: readonly Pick<
    ColumnSpec,
    'name' | 'nullable' | 'default' | 'lineage' | 'headers' | 'options'
  >[];
  readonly extent: Extent;
  readonly partitionBy?: PartitionSpec | undefined;
}

/** A column's type in the existing table (`to`), which is wider than that of the run (`from`). */
export interface TakenType {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** Ids of file versions whose rows are deleted from production. */
export interface Outgoing {
  readonly files: readonly number[];
  /** Subset of `files` that `--unload` removes: recorded, so that they are not loaded again. */
  readonly unloaded: readonly number[];
  /** Versions still listed, whose rows a replaced partition keeps. */
  readonly stays?: readonly number[];
  /** Versions whose rows stay although the file is loaded again. */
  readonly superseded?: readonly number[];
  /** Recorded versions, of all pipelines, whose rows no longer exist. */
  readonly stale?: readonly number[];
}

export interface Touched {
  readonly keys: readonly string[];
  readonly names: readonly string[];
  readonly where: string;
  readonly rows: number;
  /** Rows that are deleted, by id of a file that is no longer listed. */
  readonly leaving: readonly { readonly file: number; readonly rows: number }[];
}

export interface BuiltPartition extends Partition {
  readonly names: TableNames;
  readonly rows: number;
}

export interface BuiltTable extends DeclaredTable {
  /** Number of earlier versions to keep, including the table that is replaced now. */
  readonly keep: number;
  readonly returns?: { readonly run: number; readonly indexes: readonly string[] };
  readonly rows: number;
  /** Quoted name of the table with the rows. */
  readonly rowsFrom: string;
  readonly partitions?: readonly BuiltPartition[];
  /** Undefined: all partitions are replaced. */
  readonly touched?: Touched | undefined;
  /** Oid of the built partitioned table if it has statistics; undefined: analyzed afterwards. */
  readonly analyzedAs?: number | undefined;
  /** Number of staged records. More than `rows` if keys occur twice, or if records delete. */
  readonly staged: number;
  readonly deletions: number;
  readonly outgoing: Outgoing;
  /** For mode append: number of production rows of `outgoing.files`. */
  readonly leaving: number;
  readonly seconds: number;
  readonly indexes: readonly string[];
  /** Changes by hand that the build copied; undefined: none, or a rollback. */
  readonly byHand?: MadeByHand | undefined;
  /** Types of production that the built rows have instead of the declared ones. */
  readonly taken?: readonly TakenType[] | undefined;
  /** Changes whenever a pipeline publishes the table; read before the build. */
  readonly publications?: string | undefined;
}

/** Number of production rows after all rows, or those of the touched partitions, are replaced. */
export const rowsWith = ({ rows, touched }: BuiltTable, before: number | null): number =>
  touched === undefined ? rows : (before ?? 0) - touched.rows + rows;
