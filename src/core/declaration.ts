// A pipeline's declaration as plain frozen data. src/pipeline/ makes it; all other folders read it.

import type { ArrivalSpec } from './arrival.ts';
import type { ConstraintSpec } from './constraint.ts';
import type { RowLimit, TestSpec } from './data-test.ts';
import type { Dialect } from './dialect.ts';
import type { FieldRef, FilterSpec } from './filter.ts';
import type { HooksSpec, SqlFile } from './hook.ts';
import type { Receiver } from './notification.ts';
import type { AttributesSpec, IndexSpec, PartitionSpec } from './shape.ts';

export type { Dialect, LineEnd } from './dialect.ts';
export type { FieldRef, FilterSpec } from './filter.ts';
export { partitionUnits, type IndexSpec, type PartitionSpec, type PartitionUnit } from './shape.ts';

/** Options of csv() for one kind of source, such as `headers` for HTTP. The source checks them. */
export type SourceOptions = Readonly<Record<string, unknown>>;

export interface SourceSpec {
  /** Paths and globs relative to the working directory, URLs, or `-` for standard input. */
  readonly locations: readonly string[];
  /** Number of lines at the end of each file that are not records, such as a line with totals. */
  readonly skipEnd: number;
  /** Field name → text. Every record gets these fields in addition to its own. */
  readonly constants: Readonly<Record<string, string>>;
  readonly anywhere: boolean;
  readonly options: SourceOptions;
  /** Limits of decompression: bytes for each compressed byte, and bytes of one file. */
  readonly maxRatio: number;
  readonly maxBytes: number;
  readonly arrival: ArrivalSpec;
}

export interface FormatSpec {
  readonly kind: 'csv';
  /** A name of src/input/encodings/labels.ts, or 'detect': by the byte order mark, else UTF-8. */
  readonly encoding: string;
  readonly dialect: Dialect;
}

/** How the files of some locations are read. Options of a location replace those of csv(). */
export interface Reading {
  readonly source: SourceSpec;
  readonly format: FormatSpec;
}

export type ColumnOptions = Readonly<Record<string, unknown>>;

export interface ColumnCheck {
  readonly test: (value: never) => boolean;
  readonly message: string;
}

/** A rule for values. Bounds are written as in PostgreSQL: '1.5', even if files have 1,5. */
export type ColumnRule =
  | { readonly kind: 'min'; readonly bound: string }
  | { readonly kind: 'max'; readonly bound: string }
  | { readonly kind: 'oneOf'; readonly values: readonly string[] }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  | { readonly kind: 'length'; readonly min: number; readonly max: number | null };

export type RuleOf<Kind extends ColumnRule['kind']> = Extract<ColumnRule, { readonly kind: Kind }>;

/** The only method of a Zod schema that is called outside src/pipeline/, without importing Zod. */
export interface ColumnSchema {
  safeParse(
    value: unknown,
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly { message: string }[] } };
}

/**
 * Columns that say where a row comes from. _file: id in etl.source_file ·
 * _line: first line of the record, from 1 · _loaded_at: start of the run · _run: id of the run.
 */
export const lineageNames = ['_file', '_line', '_loaded_at', '_run'] as const;
export type LineageName = (typeof lineageNames)[number];

export interface ColumnSpec {
  readonly name: string;
  readonly type: string;
  readonly options: ColumnOptions;
  /** Fields that make the value. Several are joined with `separator` between them. */
  readonly headers: readonly FieldRef[];
  /** Set for a lineage column, whose `headers` and `rules` are empty. */
  readonly lineage?: LineageName;
  readonly separator: string;
  readonly test?: readonly FilterSpec[];
  /** Only the staging table has this column. */
  readonly stagedOnly?: true;
  readonly nullable: boolean;
  /** Texts that mean null in this column, in addition to the dialect's. */
  readonly nulls: readonly string[];
  /** Texts replaced before they are parsed: { T: '0' } reads a trace of rain as 0. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Text that replaces a missing value. It is valid for the type. */
  readonly default: string | undefined;
  readonly map: ((text: string) => string | null) | undefined;
  readonly rules: readonly ColumnRule[];
  readonly checks: readonly ColumnCheck[];
  readonly schema: ColumnSchema | undefined;
}

/**
 * Stored to split rejects into fields later: all dialects of a table's files, and the fields that
 * each column is made of.
 */
export interface RecordedFormats {
  readonly dialects: readonly Dialect[];
  readonly columns: Readonly<Record<string, readonly FieldRef[]>>;
}

export type RejectLimit = RowLimit;

/** Rows needed to publish a table. `guard: false` becomes { rowsMin: 0, shrinkMaxPercent: 100 }. */
export interface Guard {
  readonly rowsMin: number;
  readonly shrinkMaxPercent: number;
}

export interface MadeColumn {
  readonly name: string;
  readonly value: 'string' | 'number' | 'bigint' | 'boolean' | 'any';
  readonly nullable: boolean;
}

export const publishModes = ['replace', 'append', 'merge', 'history'] as const;
export type PublishMode = (typeof publishModes)[number] | 'touched';

/** What a run does with a file whose rows are in production if its content has changed. */
export const changedChoices = ['error', 'reload', 'ignore'] as const;
/** What a run does with the rows of a file that is no longer listed. */
export const goneChoices = ['keep', 'unload'] as const;

/** How a run may alter an existing table: not at all, add columns, or also change column types. */
/** What a run may change of a table that stays, from the least to the most. */
export const evolveChoices = ['keep', 'refuse', 'add', 'retype'] as const;
export type Evolve = (typeof evolveChoices)[number];

export interface AppendSpec {
  /** 'append': a run adds the rows of new files. */
  readonly mode: 'append';
  /**
   * For a file that changed since it was loaded: fail (default), replace its rows, or ignore it.
   */
  readonly changed: (typeof changedChoices)[number];
  /** For the rows of a file that is no longer listed: keep them (default), or delete them. */
  readonly gone: (typeof goneChoices)[number];
}

/** Rows of new files replace the rows with the same primary key. */
export interface MergeSpec {
  readonly mode: 'merge';
  readonly changed: (typeof changedChoices)[number];
  readonly gone: 'keep';
  /** Columns to update in an existing row; undefined: all except the key. */
  readonly update: readonly string[] | undefined;
  /** Column that compares rows with the same key: the largest value wins; null is smallest. */
  readonly newer: string | undefined;
  /**
   * A record that satisfies all of these filters deletes the row with its key. An empty list has no
   * effect.
   */
  readonly deleted: readonly FilterSpec[];
  /** For several records with the same key in one run: use the last record, or fail. */
  readonly twice: 'last' | 'reject';
  readonly by?: 'upsert' | 'rebuild' | undefined;
}

/** Keeps every version of a row, with the time range in which it was valid. */
export interface HistorySpec {
  readonly mode: 'history';
  /**
   * For a file that changed since it was loaded: fail (default), load its records again, or ignore
   * it.
   */
  readonly changed: (typeof changedChoices)[number];
  /** Rows of a file that is no longer listed are always kept. */
  readonly gone: 'keep';
  /** Name of the added column with the time at which a version begins. */
  readonly from: string;
  /** Name of the added column with the end of a version; null in the current version. */
  readonly to: string;
  /** Declared column with the time at which a record became valid; undefined: the run's start. */
  readonly at: string | undefined;
  /**
   * A record that satisfies all of these filters ends the version of its key. An empty list has no
   * effect.
   */
  readonly deleted: readonly FilterSpec[];
}

/** Replaces only the partitions into which rows of new or changed files fall. */
export interface TouchedSpec {
  readonly mode: 'replace';
  readonly only: 'touched';
  readonly changed: 'reload';
  readonly gone: 'keep';
}

/** Modes in which a run loads only some files, into the existing table. */
export type PartSpec = AppendSpec | MergeSpec | HistorySpec | TouchedSpec;
export type PublishSpec = 'replace' | PartSpec;

/** whole: a run loads all rows of a table · part: rows of some files, beside existing rows. */
export type Extent = 'whole' | 'part';

interface TableCommon {
  readonly name: string;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly constraints?: readonly ConstraintSpec[];
  readonly tests?: readonly TestSpec[];
  readonly attributes?: AttributesSpec;
  readonly publish: PublishSpec;
  readonly evolve?: Evolve | undefined;
  readonly partitionBy?: PartitionSpec | undefined;
  readonly comment: string | undefined;
  readonly guard: Guard;
  readonly keep?: number | undefined;
  readonly row?: readonly MadeColumn[] | undefined;
}

export interface SourceTableSpec extends TableCommon {
  readonly kind: 'source';
  /** One for each group of locations with the same options. `SourceFile.reading` is an index. */
  readonly readings: readonly Reading[];
  /**
   * typed: declared columns are checked, then staged · text: every field is staged as text, and
   * `transform` cleans it · none: declared columns are checked and go into the new table directly.
   */
  readonly staging: 'typed' | 'text' | 'none';
  readonly columns: readonly ColumnSpec[];
  readonly filter: readonly FilterSpec[];
  /** For a file without the field of a column: fail, or use null in every record. */
  readonly missing: 'error' | 'null';
  /** For a field that no column and no filter uses: ignore it, or fail. */
  readonly extra: 'ignore' | 'error';
  /** For a file with the same content as another file of the table; undefined: 'refuse'. */
  readonly copies?: 'refuse' | 'load' | undefined;
  readonly rejectLimit: RejectLimit;
  readonly transform: SqlFile | undefined;
}

export interface ReadTable extends SourceTableSpec, Reading {}

/** Returns the table with the reading of a file. The file's encoding replaces 'detect'. */
export const tableOfFile = (
  table: SourceTableSpec,
  { reading, encoding }: { readonly reading: number; readonly encoding: string },
): ReadTable => {
  const { source, format } = table.readings[reading]!;
  return { ...table, source, format: { ...format, encoding } };
};

export interface DerivedTableSpec extends TableCommon {
  readonly kind: 'derived';
  readonly from: readonly string[];
  readonly transform: SqlFile;
}

export type TableSpec = SourceTableSpec | DerivedTableSpec;

/**
 * A path that depends on parameters. `others`: the path with another text in place of a
 * parameter's, once for each such parameter; '' if the declaration failed with that text.
 */
export interface VariedPath {
  readonly table: string;
  readonly path: string;
  readonly others: readonly string[];
}

/** A pipeline whose parameters have values: all that a run must know. */
export interface PipelineSpec {
  readonly name: string;
  readonly schema: string;
  /** search_path of the author's SQL, after the pipeline's own schema. */
  readonly searchPath: readonly string[];
  readonly tables: readonly TableSpec[];
  /** Limit of all tables together, in addition to the limit of each. */
  readonly rejectLimit: RejectLimit | undefined;
  /** How long publishing waits for sessions with older snapshots; false: it does not wait. */
  readonly snapshotWaitMs: number | false;
  readonly hooks?: HooksSpec | undefined;
  readonly notify?: readonly Receiver[];
  readonly params: Readonly<Record<string, unknown>>;
  readonly varied: readonly VariedPath[];
  /** `params` as the ledger shows them: secret values are replaced. */
  readonly shownParams: Readonly<Record<string, unknown>>;
  /** `params` as JSON, without secrets: another process binds the pipeline with the same values. */
  readonly pinnedParams: Readonly<Record<string, unknown>>;
  /** Directory of the pipeline file; paths of SQL files are relative to it. */
  readonly directory: string;
}
