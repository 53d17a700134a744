// Reads a whole file with csv-parse only: `etl verify` must not rely on sluice's own decoders.

import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse';
import type { Dialect, LineEnd } from '../../core/declaration.ts';
import { trimBlanks } from './blanks.ts';
import { isOneOf } from './null-tokens.ts';
import { isQuoteFault } from './raw-fields.ts';
import { recordFields } from './record-fields.ts';

const { CsvError, parse } = createRequire(import.meta.url)('csv-parse') as typeof CsvParse;

/** csv-parse tries line ends in this order, so the longest is first. */
const recordEnds = { lf: ['\r\n', '\n'], crlf: ['\r\n'], cr: ['\r\n', '\r'] } as const;

/** White space that csv-parse trims but the dialect keeps, as UTF-8 bytes in latin1. */
const otherBlanks =
  /[\v\f]|\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf/;

export class NotForCsvParse extends Error {
  /** True: csv-parse found an error in a record, for which the load recorded no reject. */
  readonly isFault: boolean;

  constructor(problem: string, isFault = false) {
    super(problem);
    this.isFault = isFault;
  }
}

/** Returns an option of the dialect that csv-parse reads differently. */
export const foreignTo = ({ escape, escapes, quote, quotes }: Dialect): string | undefined => {
  if (escapes !== null) return `escapes: '${escapes}'`;
  if (quote !== null && escape !== null && escape !== quote) return `escape: ${JSON.stringify(escape)}`;
  return quotes === 'lenient' ? `quotes: 'lenient'` : undefined;
};

const optionsOf = (dialect: Dialect, fields: number, found: LineEnd): CsvParse.Options => {
  const { delimiter, quote, comment, comments, trim, quotedNulls, nulls } = dialect;
  const isNull = isOneOf(nulls);
  return {
    delimiter,
    quote,
    // Without this option, csv-parse takes '"' as escape, even if the quote is another character.
    escape: quote,
    record_delimiter: [...recordEnds[dialect.lineEnd === 'auto' ? found : dialect.lineEnd]],
    comment: comment ?? '',
    comment_no_infix: comments === 'lines',
    trim: trim !== false,
    relax_column_count: true,
    skip_empty_lines: fields !== 1,
    ...(quotedNulls
      ? {}
      : {
          cast: (text: string, { quoting }: CsvParse.CastingContext) =>
            !quoting && isNull(trim === true ? trimBlanks(text) : text) ? undefined : text,
        }),
  };
};

type Fields = readonly (string | undefined)[];

/** A record as csv-parse reads it. Its values are counted from the first byte. */
export interface CsvRecord {
  /** Texts of the fields; undefined for an unquoted null token, unless tokens in quotes are null, too. */
  readonly fields: Fields;
  /** Texts of the fields with their blanks and null tokens. */
  readonly source: Fields;
  /** Lines before the last line of the record. */
  readonly lines: number;
  /** Position of the record's end. */
  readonly end: number;
}

/** True if csv-parse does not return all blanks and null tokens of the fields. */
const hidesTexts = ({ trim, quotedNulls, nulls }: Dialect): boolean =>
  trim !== false || (!quotedNulls && nulls.some((text) => text !== ''));

/**
 * Returns a function that finds the texts of a record's fields in the bytes that csv-parse read for
 * it. These may begin with blank lines and comments.
 */
const sourceReader = (dialect: Dialect) => {
  const { comment, delimiter, quote, quotedNulls } = dialect;
  const plain = { ...dialect, trim: true, nulls: [], quotedNulls: true } as const;
  const isSame = (text: string, field: string | undefined): boolean =>
    text === field || field === undefined || trimBlanks(text) === trimBlanks(field);
  return (raw: string, fields: Fields): Fields => {
    if (quotedNulls && !/[ \t]/.test(raw)) return fields;
    let text = raw.replace(/^(?:[ \t]*[\r\n]+)+/, '').replace(/[\r\n]+$/, '');
    while (comment !== null && text.startsWith(comment)) text = text.replace(/^[^\r\n]*[\r\n]*/, '');
    const hasQuotes = quote !== null && text.includes(quote);
    const found = hasQuotes ? recordFields(Buffer.from(text), plain) : text.split(delimiter);
    const isFound = !isQuoteFault(found) && found.length === fields.length;
    return isFound && found.every((one, index) => isSame(one, fields[index])) ? found : fields;
  };
};

export const readRecords = async (
  bytes: AsyncIterable<Buffer>,
  {
    dialect,
    fields,
    lineEnd,
  }: { readonly dialect: Dialect; readonly fields: number; readonly lineEnd: LineEnd },
  take: (record: CsvRecord) => void,
): Promise<void> => {
  const sourceOf = hidesTexts(dialect) ? sourceReader(dialect) : undefined;
  // csv-parse counts a line end CR LF in quotes as two lines.
  let [pairs, last] = [0, 1];
  let [held, heldFrom, from] = [Buffer.alloc(0), 0, 0];
  const parser = parse({
    ...optionsOf(dialect, fields, lineEnd),
    on_record: (read: Fields, { lines, bytes: end }) => {
      if (lines > last + 1) for (const text of read) pairs += (text?.split('\r\n').length ?? 1) - 1;
      last = lines;
      const source = sourceOf?.(held.toString('utf8', from - heldFrom, end - heldFrom), read) ?? read;
      from = end;
      take({ fields: read, source, lines: lines - 1 - pairs, end });
      return null;
    },
  });
  let failure: Error | undefined;
  parser.on('error', (error: Error) => void (failure ??= error));
  parser.resume();
  for await (const block of bytes) {
    if (dialect.trim !== false && otherBlanks.test(block.toString('latin1')))
      throw new NotForCsvParse('it holds white space that csv-parse trims and the dialect does not');
    if (sourceOf !== undefined) held = Buffer.concat([held.subarray(from - heldFrom), block]);
    heldFrom = from;
    await new Promise<void>((done) => void parser.write(block, () => done()));
    if (failure !== undefined) break;
  }
  if (failure === undefined) await new Promise<void>((done) => void parser.end(done));
  if (failure instanceof CsvError) throw new NotForCsvParse(failure.message, true);
  if (failure !== undefined) throw failure;
};
