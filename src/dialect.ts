// How records are written in a file, as plain data.

/** lf: LF, with any carriage returns before it · crlf: CRLF alone · cr: CR, also with an LF after it. */
export type LineEnd = 'lf' | 'crlf' | 'cr';

/** How a CSV file is written. Characters, not bytes; validated in pipeline/declare/csv.ts. */
export interface Dialect {
  readonly delimiter: string;
  /** null: quotes are data. */
  readonly quote: string | null;
  /** Escapes a quote inside a quoted field; RFC 4180 doubles the quote, so it is the quote itself by default. */
  readonly escape: string | null;
  /**
   * Backslashes escape any character, and `\N` is null; with letters as in PostgreSQL's text format or as MySQL writes them, or any
   * character meaning itself.
   */
  readonly escapes: 'postgres' | 'mysql' | 'any' | null;
  /** true: the first record names the fields · a list: these are the names · false: they have none. Then every record is data. */
  readonly header: boolean | readonly string[];
  /** Records that name the fields together: the names of a field are joined by a blank. */
  readonly headerLines: number;
  /** How headers are compared; relaxed: without case, blanks, underscores and accents. */
  readonly match: 'exact' | 'relaxed';
  /** lenient: quotes within unquoted fields, and text after a closing quote, are data · strict: they reject the record. */
  readonly quotes: 'strict' | 'lenient';
  /** auto: as the file's first line ends, and another line end outside of quotes rejects its record. */
  readonly lineEnd: 'auto' | LineEnd;
  /** Remove blanks and tabs around every field before anything else looks at it; outside: but keep those within quotes. */
  readonly trim: boolean | 'outside';
  /** Field texts that mean "no value", after trimming. */
  readonly nulls: readonly string[];
  /** Whether quoted fields may be one of `nulls`; if not, `,,` is null and `,"",` an empty text. */
  readonly quotedNulls: boolean;
  /** Lines before the header that are not CSV. */
  readonly skipLines: number;
  /** Lines that begin with this are not records. */
  readonly comment: string | null;
  /** lines: comments are whole lines · infix: outside of quotes, one begins anywhere. */
  readonly comments: 'lines' | 'infix';
  /** A record with fewer or more fields than the header: a reject, or padded with nulls when it is short, or cut when it is long. */
  readonly ragged: 'reject' | 'pad' | 'cut';
}
