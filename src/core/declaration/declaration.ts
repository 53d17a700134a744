// What a pipeline declares, as plain frozen data: written by pipeline/, read by every stage.

import type { ConstraintSpec } from './constraint.ts';
import type { RowLimit, TestSpec } from './data-test.ts';
import type { Dialect } from './dialect.ts';
import type { HooksSpec, SqlFile } from './hook.ts';
import type { Receiver } from './notification.ts';
import type { AttributesSpec, IndexSpec, PartitionSpec } from './shape.ts';

export type { Dialect, LineEnd } from './dialect.ts';
export { partitionUnits, type IndexSpec, type PartitionSpec, type PartitionUnit } from './shape.ts';

/** What a table says of its files' places beyond their names: each source names its own options, and checks them. */
export type SourceOptions = Readonly<Record<string, unknown>>;

/** Where files are, and what is true of each of them. */
export interface SourceSpec {
  /** Paths and globs, relative to the working directory, and whatever else the sources of src/input/sources/registry.ts match. */
  readonly locations: readonly string[];
  /** Lines at the end of each file that are no records. */
  readonly skipEnd: number;
  /** Fields that all their records have beside their own. */
  readonly constants: Readonly<Record<string, string>>;
  /** Parameters may lead to files outside of what the locations name. */
  readonly anywhere: boolean;
  readonly options: SourceOptions;
  /** How much a compressed file may become: decoded bytes for each stored one, and in all. */
  readonly maxRatio: number;
  readonly maxBytes: number;
}

/** How records are written in the bytes of those files, once they are decoded. */
export interface FormatSpec {
  readonly kind: 'csv';
  /** Name of an encoding in decode/encoding/labels.ts; detect: as the byte order mark says, else UTF-8. */
  readonly encoding: string;
  readonly dialect: Dialect;
}

/** How the files of some locations are reached and read: what these say, and for the rest what csv() says for all. */
export interface Reading {
  readonly source: SourceSpec;
  readonly format: FormatSpec;
}

/** What a column says beyond its type's name: each type names its own options. Validated in pipeline/check/column-spec.ts. */
export type ColumnOptions = Readonly<Record<string, unknown>>;

export interface ColumnCheck {
  readonly test: (value: never) => boolean;
  readonly message: string;
}

/** What values must be, as data. Bounds and values are texts as the column's type reads them, whatever the file's spelling. */
export type ColumnRule =
  | { readonly kind: 'min'; readonly bound: string }
  | { readonly kind: 'max'; readonly bound: string }
  | { readonly kind: 'oneOf'; readonly values: readonly string[] }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  /** Characters; both ends are included. */
  | { readonly kind: 'length'; readonly min: number; readonly max: number | null };

export type RuleOf<Kind extends ColumnRule['kind']> = Extract<ColumnRule, { readonly kind: Kind }>;

/** The part of a Zod schema that a column needs; the stages do not depend on Zod. */
export interface ColumnSchema {
  safeParse(
    value: unknown,
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly { message: string }[] } };
}

/**
 * A field of the file: by its header, by its position from 1, or by one of several headers, of which a file must have one. Or a part
 * of the file's path, which holds for all its records.
 */
export type FieldRef = string | number | { readonly from: readonly string[] } | { readonly path: RegExp };

/**
 * Columns that say where a row is from. _file: id of this version of the file · _line: line of the file, or of the archive's member,
 * at which the record starts, from 1 · _loaded_at: when the run started · _run: id of the run.
 */
export const lineageNames = ['_file', '_line', '_loaded_at', '_run'] as const;
export type LineageName = (typeof lineageNames)[number];

export interface ColumnSpec {
  readonly name: string;
  /** A name of the registry in format/types/. */
  readonly type: string;
  readonly options: ColumnOptions;
  /** Fields of the file that make the value; several are joined, with the separator between. */
  readonly headers: readonly FieldRef[];
  /** The value says where the record is from: then there are no such fields, and no other rule applies. */
  readonly lineage?: LineageName;
  readonly separator: string;
  /** The value is whether the record satisfies all of these. */
  readonly test?: readonly FilterSpec[];
  /** A column of staging that production has not. */
  readonly stagedOnly?: true;
  readonly nullable: boolean;
  /** Null tokens of this column, beside the dialect's. */
  readonly nulls: readonly string[];
  /** Field texts that stand for another text: { T: '0' } reads a trace of rain as nought. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Text that takes the place of a missing value, already valid for the type. */
  readonly default: string | undefined;
  readonly map: ((text: string) => string | null) | undefined;
  readonly rules: readonly ColumnRule[];
  readonly checks: readonly ColumnCheck[];
  readonly schema: ColumnSchema | undefined;
}

/** Which records are wanted. Looks at fields by header, trimmed, a null token being absent. */
export type FilterSpec =
  | { readonly kind: 'present'; readonly header: FieldRef }
  | { readonly kind: 'oneOf'; readonly header: FieldRef; readonly values: readonly string[] }
  | {
      readonly kind: 'when';
      readonly headers: readonly FieldRef[];
      /** Keys are names and positions; the first name where there are several. */
      readonly test: (fields: Readonly<Record<string, string | null>>) => boolean;
    };

/** How the files of a table are written, by their readings, and of which fields its columns are made: enough to take a record apart later. */
export interface RecordedFormats {
  readonly dialects: readonly Dialect[];
  readonly columns: Readonly<Record<string, readonly FieldRef[]>>;
}

export type RejectLimit = RowLimit;

/** What a table must hold to be published. `guard: false` is `{ rowsMin: 0, shrinkMaxPercent: 100 }`, which everything passes. */
export interface Guard {
  readonly rowsMin: number;
  /** Share of production's rows that may be gone. */
  readonly shrinkMaxPercent: number;
}

/** A column of a table that SQL makes, as its `row` declares it. */
export interface MadeColumn {
  readonly name: string;
  /** What its values are in JavaScript. */
  readonly value: 'string' | 'number' | 'bigint' | 'boolean' | 'any';
  readonly nullable: boolean;
}

/** What production's rows are after a run; src/publish/modes/registry.ts has who brings them there. */
export const publishModes = ['replace', 'append', 'merge', 'history'] as const;
export type PublishMode = (typeof publishModes)[number] | 'touched';

/** What becomes of a file whose rows are in production, when its content is another, or when it is no longer listed. */
export const changedChoices = ['error', 'reload', 'ignore'] as const;
export const goneChoices = ['keep', 'unload'] as const;

/** What a run makes of a definition whose columns differ from those of a table that stays: each includes those before it. */
export const evolveChoices = ['refuse', 'add', 'retype'] as const;
export type Evolve = (typeof evolveChoices)[number];

export interface AppendSpec {
  readonly mode: 'append';
  readonly changed: (typeof changedChoices)[number];
  readonly gone: (typeof goneChoices)[number];
}

/** Rows of new files take the place of those with the same primary key. */
export interface MergeSpec {
  readonly mode: 'merge';
  readonly changed: (typeof changedChoices)[number];
  readonly gone: 'keep';
  /** Columns of an existing row that change; undefined: all but the key. */
  readonly update: readonly string[] | undefined;
  /** A row with a smaller value of this column, null being the smallest, loses. */
  readonly newer: string | undefined;
  /** Records that satisfy all of these, if there are any, delete the row of their key. Of two records of a key the last counts, or none. */
  readonly deleted: readonly FilterSpec[];
  readonly twice: 'last' | 'reject';
  readonly by?: 'upsert' | 'rebuild' | undefined;
}

/** Every version of a row by primary key, with the time from which and to which it was valid. */
export interface HistorySpec {
  readonly mode: 'history';
  readonly changed: (typeof changedChoices)[number];
  readonly gone: 'keep';
  /** Columns that are made: the first time of a version, and that of the next one; null: there is none. */
  readonly from: string;
  readonly to: string;
  /** The declared column that says when a record became valid; undefined: when the run started. */
  readonly at: string | undefined;
  /** Records that satisfy all of these end the version of their key. None: no record does. */
  readonly deleted: readonly FilterSpec[];
}

/** Partitions that rows of new and changed files touch get the rows of all listed files; the others stay. */
export interface TouchedSpec {
  readonly mode: 'replace';
  readonly only: 'touched';
  readonly changed: 'reload';
  readonly gone: 'keep';
}

/** Modes of tables that stay. */
export type PartSpec = AppendSpec | MergeSpec | HistorySpec | TouchedSpec;
export type PublishSpec = 'replace' | PartSpec;

/** Which rows a run brings to a table: all that it will have, or those of some of its files, beside those that are there. */
export type Extent = 'whole' | 'part';

interface TableCommon {
  readonly name: string;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly constraints?: readonly ConstraintSpec[];
  readonly tests?: readonly TestSpec[];
  readonly attributes?: AttributesSpec;
  readonly publish: PublishSpec;
  /** Undefined: 'refuse'. */
  readonly evolve?: Evolve | undefined;
  /** Left out of a table that is one whole. */
  readonly partitionBy?: PartitionSpec | undefined;
  readonly comment: string | undefined;
  readonly guard: Guard;
  /** Earlier versions that stay when it is replaced; undefined: none. */
  readonly keep?: number | undefined;
  /** What its SQL must give, if the table has some and it is declared. */
  readonly row?: readonly MadeColumn[] | undefined;
}

/** A table that is loaded from files. */
export interface SourceTableSpec extends TableCommon {
  readonly kind: 'source';
  /** In the order in which its files are listed; a file is one of these, by its place here. */
  readonly readings: readonly Reading[];
  /** typed: declared columns, checked · text: every header column as text, bytes untouched, cleaned by `transform` ·
   *  none: declared columns, checked, straight into the new table that will be production's. */
  readonly staging: 'typed' | 'text' | 'none';
  readonly columns: readonly ColumnSpec[];
  readonly filter: readonly FilterSpec[];
  /** A file without the field of a column: an error, or all its values are missing. */
  readonly missing: 'error' | 'null';
  /** A file with a field that no column and no filter names. */
  readonly extra: 'ignore' | 'error';
  /** A file whose content is that of another file of the table; undefined: 'refuse'. */
  readonly copies?: 'refuse' | 'load' | undefined;
  readonly rejectLimit: RejectLimit;
  readonly transform: SqlFile | undefined;
}

/** A table as one of its files is read, or all files of a reading. */
export interface ReadTable extends SourceTableSpec, Reading {}

/** The table as this file is read, in the encoding that it has. */
export const tableOfFile = (
  table: SourceTableSpec,
  { reading, encoding }: { readonly reading: number; readonly encoding: string },
): ReadTable => {
  const { source, format } = table.readings[reading]!;
  return { ...table, source, format: { ...format, encoding } };
};

/** A table that SQL makes from other tables of the pipeline. */
export interface DerivedTableSpec extends TableCommon {
  readonly kind: 'derived';
  readonly from: readonly string[];
  readonly transform: SqlFile;
}

export type TableSpec = SourceTableSpec | DerivedTableSpec;

/** A pipeline whose parameters are bound: everything that one run needs to know. */
/** A path that texts of parameters are part of, and, for each of these, the path with another text; empty: there is none (source/confine.ts). */
export interface VariedPath {
  readonly table: string;
  readonly path: string;
  readonly others: readonly string[];
}

export interface PipelineSpec {
  readonly name: string;
  readonly schema: string;
  /** Schemas in which SQL of the author's finds names without one, after the pipeline's own. */
  readonly searchPath: readonly string[];
  readonly tables: readonly TableSpec[];
  /** Of all tables together, beside that of each; undefined: there is none. */
  readonly rejectLimit: RejectLimit | undefined;
  /** How long publishing waits for sessions whose snapshot is older than the new tables; false: not at all. */
  readonly snapshotWaitMs: number | false;
  readonly hooks?: HooksSpec | undefined;
  readonly notify?: readonly Receiver[];
  readonly params: Readonly<Record<string, unknown>>;
  readonly varied: readonly VariedPath[];
  /** The same for the ledger, without the values of those that are declared secret. */
  readonly shownParams: Readonly<Record<string, unknown>>;
  /**
   * What makes these parameters again, later and elsewhere, as JSON: defaults that depend on the day stay what they were.
   * Without those that are declared secret, and those that JSON cannot hold.
   */
  readonly pinnedParams: Readonly<Record<string, unknown>>;
  /** Directory that SQL files are relative to. */
  readonly directory: string;
}
