// Records of a file as csv-parse reads them from beginning to end, without our splitter and decoders: a second opinion.

import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse';
import type { Dialect, LineEnd } from '../../core/declaration/declaration.ts';
import { trimBlanks } from './blanks.ts';
import { isOneOf } from './null-tokens.ts';

const { CsvError, parse } = createRequire(import.meta.url)('csv-parse') as typeof CsvParse;

/** Record ends as csv-parse knows them, the longest first. */
const recordEnds = { lf: ['\r\n', '\n'], crlf: ['\r\n'], cr: ['\r\n', '\r'] } as const;

/** White space that csv-parse trims and the dialect keeps, in the bytes of UTF-8. */
const otherBlanks =
  /[\v\f]|\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf/;

/** Why the file cannot be counted by csv-parse. */
export class NotForCsvParse extends Error {
  /** It found a fault that no reject is recorded for. */
  readonly isFault: boolean;

  constructor(problem: string, isFault = false) {
    super(problem);
    this.isFault = isFault;
  }
}

/** What in a dialect csv-parse does not read as we do; undefined: it reads all of it. */
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
    // Otherwise a double quote, whatever the quote is.
    escape: quote,
    record_delimiter: [...recordEnds[dialect.lineEnd === 'auto' ? found : dialect.lineEnd]],
    comment: comment ?? '',
    comment_no_infix: comments === 'lines',
    trim: trim !== false,
    relax_column_count: true,
    skip_empty_lines: fields !== 1,
    // Only csv-parse knows which fields had quotes.
    ...(quotedNulls
      ? {}
      : {
          cast: (text: string, { quoting }: CsvParse.CastingContext) =>
            !quoting && isNull(trim === true ? trimBlanks(text) : text) ? undefined : text,
        }),
  };
};

/**
 * Gives each record's fields to `take`; a field is undefined where it is null without quotes. `fields`: how many the header has.
 * Memory: a block and a record. Errors: NotForCsvParse, whatever `take` throws.
 */
export const readRecords = async (
  bytes: AsyncIterable<Buffer>,
  {
    dialect,
    fields,
    lineEnd,
  }: { readonly dialect: Dialect; readonly fields: number; readonly lineEnd: LineEnd },
  take: (fields: readonly (string | undefined)[]) => void,
): Promise<void> => {
  const parser = parse({
    ...optionsOf(dialect, fields, lineEnd),
    on_record: (record: readonly string[]) => {
      take(record);
      // It is handed on to nobody.
      return null;
    },
  });
  let failure: Error | undefined;
  parser.on('error', (error: Error) => void (failure ??= error));
  parser.resume();
  for await (const block of bytes) {
    if (dialect.trim !== false && otherBlanks.test(block.toString('latin1')))
      throw new NotForCsvParse('it holds white space that csv-parse trims and the dialect does not');
    await new Promise<void>((done) => void parser.write(block, () => done()));
    if (failure !== undefined) break;
  }
  if (failure === undefined) await new Promise<void>((done) => void parser.end(done));
  if (failure instanceof CsvError) throw new NotForCsvParse(failure.message, true);
  if (failure !== undefined) throw failure;
};
