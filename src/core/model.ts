// The glossary as types: the words of ARCHITECTURE.md that more than one folder uses.

import type { DataTestResult } from './declaration/data-test.ts';
import type { LineEnd } from './declaration/declaration.ts';
import type { BuildWhat, RunProfile, RunStep } from './profile.ts';

export type { BuildWhat, RunStep };

/** A place in a source file. */
export interface Position {
  /** Offset of the record's first byte in the decoded file, from 0. */
  readonly byte: number;
  /** Line of the record's first byte, from 1; a quoted newline counts as a line. */
  readonly line: number;
  /** Number of the data record within its file, from 1; the header is not a record. */
  readonly record: number;
}

/** How the header of a file differs from the fields that its table names, each as people see it. */
export interface HeaderDifferences {
  /** Named by the table, but not in the header. */
  readonly missing: readonly string[];
  /** In the header, but not named. */
  readonly extra: readonly string[];
  readonly renamed: readonly { readonly wanted: string; readonly found: string }[];
}

/** Where a member is in its archive: bytes, and numbers that only the archive's format knows. */
export interface MemberPart {
  readonly start: number;
  readonly end: number;
  /** Of the archive as a whole. */
  readonly archiveBytes: number;
  /** Decompressed, as the archive says; more are refused. */
  readonly bytes: number;
  readonly [more: string]: number;
}

/** One file that a run reads, as it was when the run was planned. */
export interface SourceFile {
  readonly id: number;
  readonly runId: number;
  /** When that run started, as the server writes it in UTC. */
  readonly runStarted: string;
  readonly table: string;
  /** Name of its source in source/registry.ts. */
  readonly source: string;
  /** Where the source finds it: for a local file, the absolute path on the machine that planned the run. */
  readonly location: string;
  /** The file's name within an archive. */
  readonly member: string | null;
  /** Where it is in the archive, and whatever else the archive's format has to know; null: it is not a member. */
  readonly part: MemberPart | null;
  /** Name for users: relative to the working directory if possible. */
  readonly name: string;
  /** Place in the table's list of files, from 0: later files count as newer. */
  readonly ordinal: number;
  /** Size as stored. All other byte counts are those of the decoded stream. */
  readonly bytes: number;
  readonly fingerprint: string;
  /** Name of its decoding in decode/registry.ts; null: it has none. */
  readonly decoding: string | null;
  /** Name of its encoding in decode/encoding/labels.ts. */
  readonly encoding: string;
  /** Place among the readings of its table. */
  readonly reading: number;
  /** Field names of the file, in file order. */
  readonly header: readonly string[];
  /** Fields that all its records have in addition to their own, by name. */
  readonly constants: Readonly<Record<string, string>>;
  /** null: its header has exactly what its table names. */
  readonly differs: HeaderDifferences | null;
  /** First byte and line after BOM, skipped lines and header. */
  readonly dataByte: number;
  readonly dataLine: number;
  /** Where the data ends; null until the end of the decoded stream was read. */
  readonly dataEnd: number | null;
  /** How its lines end, as its dialect or its first line says. */
  readonly lineEnd: LineEnd;
}

/** A byte range of one file. It begins and ends at a record, or ends at the file's end. A queue job is one, or several small ones. */
export interface Segment {
  readonly fileId: number;
  readonly start: Position;
  /** null: wherever the file ends. */
  readonly byteEnd: number | null;
}

/** Who may load: one coordinator of a run, as long as the server keeps its unlogged tables. Checked in every chunk's transaction. */
export interface Lease {
  readonly runId: number;
  /** The server's crash epoch that the run counts under. */
  readonly epoch: string;
  /** Which coordinator of the run, from 1: the segments of another one may overlap. */
  readonly generation: number;
}

/** Counts of one chunk, one file or one table. records = copied + rejected + filtered, always. */
export interface Counts {
  readonly records: number;
  readonly copied: number;
  readonly rejected: number;
  readonly filtered: number;
}

/** One fault of a record. */
export interface Fault {
  /** Column of the pipeline, or null when the whole record is at fault. */
  readonly column: string | null;
  readonly code: RejectCode;
  readonly reason: string;
}

/** A record that could not be loaded, with its first fault and everything needed to find and fix it. */
export interface Reject extends Fault {
  readonly position: Position;
  /** Line on which the record ends. */
  readonly lastLine: number;
  /** The record's other faults: how many, and those that are kept. */
  readonly others?: { readonly count: number; readonly kept: readonly Fault[] };
  /** The record's bytes as text, cut at `rejectRawBytesMax`; invalid bytes as \xNN. */
  readonly raw: string;
}

/** The default queue of runs and workers; also the queue of runs that come from none. */
export const defaultQueue = 'default';

/** The context with which another process continues a trace, as W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Why a record is rejected. The reasons are explained in docs/reference/errors.md. */
export const rejectCodes = {
  field_count: 'the record has more or fewer fields than the header',
  invalid_utf8: 'the record holds bytes that are not UTF-8',
  encoding: 'the record holds bytes that are not valid in the encoding of its file',
  nul_byte: 'the record holds a NUL byte, which PostgreSQL text cannot store',
  quote: 'a quote is where the dialect does not allow one, or is never closed',
  line_end: 'a carriage return or line feed outside of quotes is not a line end of the file',
  record_too_long: 'the record is longer than the bound, nearly always an unclosed quote',
  not_null: 'the field is missing (a null token) and the column is not nullable',
  type: 'the field is not a value of the column type',
  range: 'the value is outside the range of the column type',
  too_long: 'the text is longer than varchar(n) allows',
  check: 'the column’s own check refused the value',
  server: 'the server refused the record; the reason is its own message',
} as const;

export type RejectCode = keyof typeof rejectCodes;

/**
 * States of a run:
 *
 *   planned -> loading -> loaded -> publishing -> published
 *        \________\__________\___________\______-> failed | cancelled
 */
export type RunState = 'planned' | 'loading' | 'loaded' | 'publishing' | 'published' | 'failed' | 'cancelled';

/** A run that failed before it began. */
export interface RunFailure {
  /** null when the job could not be read. */
  readonly pipeline: string | null;
  /** null if there was no job: a run of `etl run` or of the library. */
  readonly job: string | null;
  readonly queue: string;
  readonly host: string;
  readonly pid: number;
  readonly errorCode: string;
  readonly error: string;
  readonly failedAt: Date;
}

/** How long one step of a run took. Between steps it calls hooks, waits for a lost server, and tidies up. */
export interface StepTime {
  readonly step: RunStep;
  readonly seconds: number;
}

/**
 * What happened to the records of a table whose rows are merged; the counts add up to the copied records. Superseded records lost
 * against another one with the same key, of the same run or in production.
 */
type RowChange = 'inserted' | 'updated' | 'unchanged' | 'deleted' | 'superseded';
export type RowChanges = Readonly<Record<RowChange, number>>;

/** What a run did to one table. Seconds: from first chunk to last for loading, plus building it. */
export interface TableResult extends Counts {
  readonly table: string;
  readonly schema: string;
  readonly kind: 'source' | 'derived';
  readonly files: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Rows of the production table before the run, null when there was none or none was counted yet, and after it. */
  readonly rowsBefore: number | null;
  readonly rows: number;
  /** How it was published: the name of a strategy, docs/reference/events.md. */
  readonly strategy: string;
  /** Only of a table whose rows are merged. */
  readonly changes?: RowChanges;
  /** Names of the partitions that were replaced, if only: 'touched' left the others as they were. */
  readonly partitions?: readonly string[];
}

export interface RunResult {
  readonly runId: number;
  readonly pipeline: string;
  /** unchanged: same files and definition as run `runId`, whose tables still exist; nothing was done. */
  readonly outcome: 'published' | 'unchanged';
  /** When run `runId` was published. */
  readonly publishedAt: Date;
  readonly tables: readonly TableResult[];
  readonly steps: readonly StepTime[];
  readonly seconds: number;
  /** Only if it was the embedded server. */
  readonly embedded?: true;
  /** Write-ahead log that the server wrote during the run, for all its sessions; missing if the server does not say. */
  readonly serverWalBytes?: number;
  readonly profile?: RunProfile;
  /** Only if tables have data tests. */
  readonly tests?: readonly DataTestResult[];
}

/** A session, or a standby of the server, whose snapshot is older than the tables that are to be published: it would see them empty. */
export interface SnapshotHolder {
  /** Null: a replication slot whose connection is not known. */
  readonly pid: number | null;
  readonly user: string | null;
  readonly application: string | null;
  /** Start of its transaction or connection, ISO 8601; null: unknown. */
  readonly since: string | null;
  readonly isStandby: boolean;
}

/** Events of a run, in this order; `etl run --json` prints each as one line. */
export type RunEvent =
  | {
      readonly type: 'started';
      readonly runId: number;
      readonly pipeline: string;
      readonly server: string;
      readonly workers: number;
    }
  | {
      readonly type: 'planned';
      readonly tables: readonly {
        readonly table: string;
        readonly kind: 'source' | 'derived';
        readonly files: number;
        readonly bytes: number;
      }[];
    }
  | { readonly type: 'step'; readonly step: RunStep }
  /** Totals of a table so far; sent whenever more bytes were read, at most ten times a second per table. */
  | ({
      readonly type: 'progress';
      readonly table: string;
      readonly bytes: number;
      readonly bytesTotal: number;
    } & Counts)
  | { readonly type: 'loaded'; readonly table: string; readonly seconds: number }
  | { readonly type: 'building'; readonly table: string; readonly what: BuildWhat }
  | { readonly type: 'notice'; readonly message: string }
  /** An unfinished run is continued: this much of it is in staging. */
  | { readonly type: 'resumed'; readonly runId: number; readonly chunks: number; readonly records: number }
  /** The server is down, or not up yet; the run waits `waitMs` at most. */
  | { readonly type: 'waiting'; readonly problem: string; readonly waitMs: number }
  /** Publishing waits for sessions whose snapshot is older than the new tables, `waitMs` at most; sent whenever it waits for others. */
  | {
      readonly type: 'snapshots';
      readonly holders: readonly SnapshotHolder[];
      readonly waitMs: number;
    }
  /** The server is back; this much of staging is loaded again (nothing, unless it crashed). */
  | {
      readonly type: 'recovered';
      readonly crashed: boolean;
      readonly chunks: number;
      readonly records: number;
    }
  | { readonly type: 'finished'; readonly result: RunResult };

/** A file that is listed, or in production, or both. `moved`: in production under another name, until the next run. `copy`: new, and refused. */
export interface FileState {
  readonly table: string;
  /** Its name, as `reload` and `unload` take it. */
  readonly file: string;
  readonly location: string;
  readonly state: 'in production' | 'moved' | 'new' | 'copy' | 'changed' | 'corrected' | 'unloaded' | 'gone';
  /** The run that brought it into production, what that run read, and its rows there; null: none did. */
  readonly run: number | null;
  readonly records: number | null;
  readonly rows: number | null;
  readonly publishedAt: Date | null;
  /** Why a run that loads it would refuse it, as far as its beginning shows; null: it would not. */
  readonly problem: string | null;
}
