// The state of a file of a pipeline, as `etl files` and listFiles() show it.

/**
 * A file that is listed, or whose rows are in production. moved: production has its rows under
 * another name, which the next run corrects · copy: a new file with the content of another one,
 * which a run refuses · held back: a run loads the other files without it, for the reason in
 * `problem` · corrected: rejects of it were corrected after it was published · unloaded:
 * its rows were deleted on request · gone: no longer listed.
 */
export interface FileState {
  /** Table that the file belongs to. */
  readonly table: string;
  /** The name to give to `reload` and `unload`. */
  readonly file: string;
  /** Absolute path on the machine that listed the file, or its URL. */
  readonly location: string;
  /** How the file compares with production; the type's own description has the meanings. */
  readonly state:
    | 'in production'
    | 'moved'
    | 'new'
    | 'copy'
    | 'changed'
    | 'corrected'
    | 'held back'
    | 'unloaded'
    | 'gone';
  /** The run that published the file; null, like records, rows and publishedAt, if no run did. */
  readonly run: number | null;
  /** Records that this run read. */
  readonly records: number | null;
  /** Rows of the file in production. */
  readonly rows: number | null;
  /** When the run that loaded the file was published; null if no run did. */
  readonly publishedAt: Date | null;
  /** Why a run would refuse the file, judged by its first bytes; null if it would not. */
  readonly problem: string | null;
}
