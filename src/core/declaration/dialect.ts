// How records are written in a file, as plain data and as text.

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

/**
 * What tells ways of writing files from each other: of each, the options that it has otherwise than most of them, or than the first
 * where no value is more frequent.
 */
export const ownOptions = <Options extends object>(all: readonly Options[]): readonly Partial<Options>[] => {
  const texts = all.map((options) =>
    Object.entries(options).map(([name, value]) => JSON.stringify([name, value])),
  );
  const counts = new Map<string, number>();
  for (const text of texts.flat()) counts.set(text, (counts.get(text) ?? 0) + 1);
  const usual = (texts[0] ?? []).map((_, option) =>
    texts.reduce(
      (most, one) => (counts.get(one[option]!)! > counts.get(most)! ? one[option]! : most),
      texts[0]![option]!,
    ),
  );
  return all.map(
    (options, place) =>
      Object.fromEntries(
        Object.entries(options).filter((_, option) => texts[place]![option] !== usual[option]),
      ) as Partial<Options>,
  );
};

/** Names of a header that are shown. */
const namesShown = 3;

const valueText = (value: unknown): string => {
  if (typeof value === 'string')
    return `'${JSON.stringify(value)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`)}'`;
  if (!Array.isArray(value)) return String(value);
  const more = value.length > namesShown ? [`… (${value.length})`] : [];
  return `[${[...value.slice(0, namesShown).map(valueText), ...more].join(', ')}]`;
};

/** Options as a pipeline file says them: `delimiter: ';', headerLines: 2`. */
export const optionsText = (options: Readonly<Record<string, unknown>>): string =>
  Object.entries(options)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ');
