// The tables of a run as publishing knows them: as they are declared, and as they are built aside.

import type { ConstraintSpec } from '../../core/declaration/constraint.ts';
import type {
  ColumnSpec,
  Evolve,
  Extent,
  PartitionSpec,
  SourceTableSpec,
} from '../../core/declaration/declaration.ts';
import type { TableNames } from '../../db/names.ts';
import type { Partition } from './bounds.ts';
import type { MadeByHand } from './by-hand.ts';
import type { Meaning } from './meaning.ts';

/** The columns that production has. */
export const publishedColumns = ({ columns }: Pick<SourceTableSpec, 'columns'>): readonly ColumnSpec[] =>
  columns.filter(({ stagedOnly }) => stagedOnly !== true);

/** The declared part of any table. */
export interface DeclaredTable extends TableNames {
  readonly primaryKey: readonly string[];
  readonly constraints: readonly ConstraintSpec[];
  readonly comment: string | undefined;
  readonly mode: Meaning;
  readonly evolve: Evolve;
  /** Its columns as they are declared; none where SQL makes the rows. */
  readonly declared: readonly Pick<ColumnSpec, 'name' | 'nullable' | 'default' | 'lineage'>[];
  readonly extent: Extent;
  readonly partitionBy?: PartitionSpec | undefined;
}

/** Versions of files whose rows leave production, by their ids. */
export interface Outgoing {
  readonly files: readonly number[];
  /** Those that are not loaded again before they change. */
  readonly unloaded: readonly number[];
  /** Listed versions that stay: a replaced partition keeps their rows. Undefined: no partition is replaced. */
  readonly stays?: readonly number[];
  /** Recorded versions of all pipelines whose rows are gone already. Undefined: none. */
  readonly stale?: readonly number[];
}

/** The partitions of a table that are replaced, while its others stay. */
export interface Touched {
  readonly keys: readonly string[];
  readonly names: readonly string[];
  /** SQL: a condition that only their rows meet. */
  readonly where: string;
  /** Rows that they have in production. */
  readonly rows: number;
  /** Rows of them that leave with files that are not listed any more, by the ids of the files. */
  readonly leaving: readonly { readonly file: number; readonly rows: number }[];
}

/** A partition that is built aside. */
export interface BuiltPartition extends Partition {
  readonly names: TableNames;
  readonly rows: number;
}

/** A table that is built aside and will be published. */
export interface BuiltTable extends DeclaredTable {
  /** How many earlier versions stay: the table that is replaced becomes one of them. */
  readonly keep: number;
  /** An earlier version that returns: the run that loaded it, and names that its indexes get back. */
  readonly returns?: { readonly run: number; readonly indexes: readonly string[] };
  readonly rows: number;
  /** Quoted name of the table that has them. */
  readonly rowsFrom: string;
  /** Of a table that is divided. */
  readonly partitions?: readonly BuiltPartition[];
  /** Undefined: all partitions are replaced. */
  readonly touched?: Touched | undefined;
  /** Oid of the partitioned table aside that has the statistics of the whole; undefined: production is analyzed after publication. */
  readonly analyzedAs?: number | undefined;
  /** Rows that were loaded for it: more than `rows` if a key occurs twice, or records delete. */
  readonly staged: number;
  /** Keys whose last record deletes. */
  readonly deletions: number;
  readonly outgoing: Outgoing;
  /** Rows that `outgoing` has in production, of a table that is appended to: some may have left with their partition. */
  readonly leaving: number;
  readonly seconds: number;
  /** Names of the declared ones. */
  readonly indexes: readonly string[];
  /** What production had to copy when it was built; undefined: nothing is copied, or it is an earlier version. */
  readonly byHand?: MadeByHand | undefined;
  /** The publications of the table before any table of the run was built; undefined: it is an earlier version. */
  readonly publications?: string | undefined;
}

/** Rows of production once these have replaced all others, or those of the touched partitions. */
export const rowsWith = ({ rows, touched }: BuiltTable, before: number | null): number =>
  touched === undefined ? rows : (before ?? 0) - touched.rows + rows;
