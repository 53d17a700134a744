// Types that several folders use: positions, files, segments, counts, rejects, results and events.

import type { DataTestResult } from './data-test.ts';
import type { LineEnd } from './declaration.ts';
import type { BuildWhat, RunProfile, RunStep, TimedStep } from './profile.ts';

export type { BuildWhat, RunStep, TimedStep };

/** A position in a source file. */
export interface Position {
  /** Offset of the record's first byte in the decompressed file, from 0. */
  readonly byte: number;
  /** Line on which the record begins, from 1. A line break inside quotes begins a new line, too. */
  readonly line: number;
  /** Number of the record in its file, from 1, not counting the header. */
  readonly record: number;
}

export interface HeaderDifferences {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  /** Fields whose header is spelled differently, for example in upper case. */
  readonly renamed: readonly { readonly wanted: string; readonly found: string }[];
}

/** Where an archive stores a member. Only the code of the archive's format uses `more`. */
export interface MemberPart {
  readonly start: number;
  readonly end: number;
  readonly archiveBytes: number;
  /** Decompressed size according to the archive; a member that is longer is refused. */
  readonly bytes: number;
  readonly [more: string]: number;
}

/** A file that a run reads, as it was when the run was planned. */
export interface SourceFile {
  readonly id: number;
  readonly runId: number;
  /** Start of the run in UTC, as PostgreSQL writes it. */
  readonly runStarted: string;
  readonly table: string;
  readonly source: string;
  /** Absolute path on the machine that planned the run, or URL. */
  readonly location: string;
  readonly member: string | null;
  readonly part: MemberPart | null;
  /** Name for people: relative to the working directory if the file is below it. */
  readonly name: string;
  /** Index in the table's list of files. Later files count as newer. */
  readonly ordinal: number;
  /** Size as stored. All other byte counts are of decompressed bytes. */
  readonly bytes: number;
  readonly fingerprint: string;
  readonly decoding: string | null;
  readonly encoding: string;
  readonly reading: number;
  readonly header: readonly string[];
  readonly constants: Readonly<Record<string, string>>;
  /** null: the header has exactly the fields that the table names. */
  readonly differs: HeaderDifferences | null;
  /** First byte and line of data: after byte order mark, skipped lines and header. */
  readonly dataByte: number;
  readonly dataLine: number;
  /** Byte after the last byte of data; null until the end of the file was read once. */
  readonly dataEnd: number | null;
  readonly lineEnd: LineEnd;
}

/** A range of a file that begins and ends between records. A job loads one or a few segments. */
export interface Segment {
  readonly fileId: number;
  readonly start: Position;
  readonly byteEnd: number | null;
}

/**
 * The right to load for a run, checked in every chunk's transaction. The lease ends when another
 * process coordinates the run, or when a crash of the server empties the unlogged staging tables.
 */
export interface Lease {
  readonly runId: number;
  /** The server's epoch when the run began. A crash of the server changes it. */
  readonly epoch: string;
  /**
   * Number of the process that coordinates the run, from 1. Each cuts files into its own segments.
   */
  readonly generation: number;
}

/** Counts of a chunk, a file or a table. records = copied + rejected + filtered, always. */
export interface Counts {
  /** Records that were read: copied + rejected + filtered. */
  readonly records: number;
  /** Records that became rows. */
  readonly copied: number;
  /** Records that could not be loaded, and are listed by `etl rejects`. */
  readonly rejected: number;
  /** Records that the table's `filter` left out. */
  readonly filtered: number;
}

export interface Fault {
  readonly column: string | null;
  readonly code: RejectCode;
  readonly reason: string;
}

/** A record that could not be loaded, with its first fault. */
export interface Reject extends Fault {
  readonly position: Position;
  readonly lastLine: number;
  /** Number of the record's other faults; `kept` has the first of these faults. */
  readonly others?: { readonly count: number; readonly kept: readonly Fault[] };
  /** The record as text, cut at `rejectRawBytesMax`; invalid bytes are written as \xNN. */
  readonly raw: string;
}

/** The queue of runs and workers that name no queue. Runs that were not enqueued have it, too. */
export const defaultQueue = 'default';

/** W3C Trace Context, with which another process continues a trace. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export const rejectCodes = {
  field_count: 'the record has more or fewer fields than the header',
  invalid_utf8: 'the record holds bytes that are not UTF-8',
  encoding: 'the record holds bytes that are not valid in the encoding of its file',
  nul_byte: 'the record holds a NUL byte, which PostgreSQL text cannot store',
  quote: 'a quote is where the dialect does not allow one, or is never closed',
  line_end: 'a carriage return or line feed outside of quotes is not the line end of the file',
  record_too_long: 'the record is longer than 2 MB, nearly always because a quote is not closed',
  not_null: 'the field is missing or null, and the column does not allow nulls',
  type: 'the field is not a value of the column type',
  range: 'the value is outside the range of the column type',
  too_long: 'the text is longer than varchar(n) allows',
  check: 'a check of the column refused the value',
  server: 'the server refused the record; the reason is its message',
} as const;

export type RejectCode = keyof typeof rejectCodes;

/**
 * planned -> loading -> loaded -> publishing -> published
 *      \________\__________\___________\______-> failed | cancelled
 */
export type RunState = 'planned' | 'loading' | 'loaded' | 'publishing' | 'published' | 'failed' | 'cancelled';

/** A run that failed before it began. */
export interface RunFailure {
  /** null: the job could not be read. */
  readonly pipeline: string | null;
  /** null: the run was not enqueued. */
  readonly job: string | null;
  /** Queue that the run was taken from. */
  readonly queue: string;
  /** Name of the machine on which it failed. */
  readonly host: string;
  /** Id of the process in which it failed. */
  readonly pid: number;
  /** Code of the error, such as ETL_JOB_INVALID. */
  readonly errorCode: string;
  /** Message of the error. */
  readonly error: string;
  /** When it failed. */
  readonly failedAt: Date;
}

/** Time of a step of a run. The steps of a run add up to its time. */
export interface StepTime {
  /** The step. Each step is listed once, however often it began. */
  readonly step: TimedStep;
  /** Time spent in the step, in seconds. */
  readonly seconds: number;
}

/**
 * What became of the copied records of a merged table. superseded: another record with the same
 * key, of this run or in production, was used instead.
 */
type RowChange = 'inserted' | 'updated' | 'unchanged' | 'deleted' | 'superseded';
export type RowChanges = Readonly<Record<RowChange, number>>;

/** What a run did to a table. */
export interface TableResult extends Counts {
  /** Name of the table in the pipeline and in its schema. */
  readonly table: string;
  /** Schema of the table in production. */
  readonly schema: string;
  /** source: loaded from files · derived: made by SQL from other tables. */
  readonly kind: 'source' | 'derived';
  /** Number of files that were read for the table. */
  readonly files: number;
  /** Size of these files as stored, in bytes: before decompression. */
  readonly bytes: number;
  /** Seconds from the table's first chunk to its last, plus seconds to build it. */
  readonly seconds: number;
  /** Rows in production before the run; null: there was no table, or its rows are not known. */
  readonly rowsBefore: number | null;
  /** Rows in production after the run. */
  readonly rows: number;
  /** How the table was published; docs/reference/events.md has the names. */
  readonly strategy: string;
  /** Present only if the rows were merged. */
  readonly changes?: RowChanges;
  /** Partitions that were replaced. Present only in the mode with `only: 'touched'`. */
  readonly partitions?: readonly string[];
}

/** A listed file that was not loaded, while the other files were. */
export interface HeldFile {
  /** Table that the file belongs to. */
  readonly table: string;
  /** Name of the file: relative to the working directory if the file is below it. */
  readonly file: string;
  /** Absolute path, or URL. */
  readonly location: string;
  /** An error code, such as ETL_FILE_NOT_READY; `problem` is its message. */
  readonly code: string;
  /** Why the file was not loaded. */
  readonly problem: string;
}

/** What a run did: the result of runPipeline and loadFiles, and of the event `finished`. */
export interface RunResult {
  /** Number of the run in etl.run. If `outcome` is 'unchanged': of the last published run. */
  readonly runId: number;
  /** Name of the pipeline that the run belongs to. */
  readonly pipeline: string;
  /** unchanged: run `runId` has published the same files and definition, so nothing was done. */
  readonly outcome: 'published' | 'unchanged';
  /** When run `runId` was published. */
  readonly publishedAt: Date;
  /** One result for each table of the pipeline, in declared order. */
  readonly tables: readonly TableResult[];
  /** Where the time went. The steps add up to `seconds`. */
  readonly steps: readonly StepTime[];
  /** Duration from connecting to the end, in seconds. */
  readonly seconds: number;
  /** Present if the server was the embedded one. */
  readonly embedded?: true;
  /** Bytes of write-ahead log that all sessions wrote during the run; missing if not readable. */
  readonly serverWalBytes?: number;
  /** Measurements of the run. Present only with the option `profile`. */
  readonly profile?: RunProfile;
  /** Present if files were held back: they are tried again when they change. */
  readonly held?: readonly HeldFile[];
  /** Present if tables have data tests. */
  readonly tests?: readonly DataTestResult[];
}
