// The dialect of a CSV file, and its options as text for people.

/** lf: LF, or LF after carriage returns · crlf: only CRLF · cr: CR, or CR LF. */
export type LineEnd = 'lf' | 'crlf' | 'cr';

/** How a CSV file is written. Delimiter, quote, escape and comment are characters. */
export interface Dialect {
  /** Character between fields. */
  readonly delimiter: string;
  /** Character around fields; null: quotes are data. */
  readonly quote: string | null;
  /** Inside quotes, the quote after this character is data. '"': quotes are doubled (RFC 4180). */
  readonly escape: string | null;
  /**
   * Reads backslash escapes, with `\N` for null. Escaped letters mean what they mean in COPY's text
   * format ('postgres') or in MySQL's exports ('mysql'), or themselves ('any'). null: no escapes.
   */
  readonly escapes: 'postgres' | 'mysql' | 'any' | null;
  /** true: the first record has the names · a list: the names · false: fields have no names. */
  readonly header: boolean | readonly string[];
  /** Number of records in the header. A field's names in these records are joined by a blank. */
  readonly headerLines: number;
  /** How headers are compared. relaxed ignores case, blanks, underscores and accents. */
  readonly match: 'exact' | 'relaxed';
  /**
   * A quote inside an unquoted field, or text after a closing quote:
   * strict rejects the record · lenient takes both as data.
   */
  readonly quotes: 'strict' | 'lenient';
  /** auto: the line end of the first line. Other line ends outside of quotes reject the record. */
  readonly lineEnd: 'auto' | LineEnd;
  /** true: remove blanks and tabs around every field · outside: only outside of quotes. */
  readonly trim: boolean | 'outside';
  /** Field texts, after trimming, that mean null. */
  readonly nulls: readonly string[];
  /** True if a text of `nulls` means null in quotes, too. If false, `,"",` is an empty text. */
  readonly quotedNulls: boolean;
  /** Number of lines before the header that are skipped. */
  readonly skipLines: number;
  /** Lines that begin with this text are skipped; null: none. */
  readonly comment: string | null;
  /** lines: comments are whole lines · infix: a comment may begin anywhere outside of quotes. */
  readonly comments: 'lines' | 'infix';
  /**
   * A record with fewer or more fields than the header: reject rejects it · pad adds nulls to a
   * short one · cut drops the extra fields of a long one.
   */
  readonly ragged: 'reject' | 'pad' | 'cut';
}

/** Returns, for each option set, the options whose value is not the most frequent one. */
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
    (options, index) =>
      Object.fromEntries(
        Object.entries(options).filter((_, option) => texts[index]![option] !== usual[option]),
      ) as Partial<Options>,
  );
};

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

/** Formats options as in a pipeline file: `delimiter: ';', headerLines: 2`. */
export const optionsText = (options: Readonly<Record<string, unknown>>): string =>
  Object.entries(options)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ');
