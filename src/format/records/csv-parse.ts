// csv-parse: the one place that loads it, and says which dialects it reads.

import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse/sync';
import type { Dialect } from '../../core/declaration/declaration.ts';
import type { Grammar } from '../split/grammar.ts';

/** CommonJS, which is one file; every thread would read a dozen ES modules. */
const { CsvError, parse } = createRequire(import.meta.url)('csv-parse/sync') as typeof CsvParse;

export const newlines = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/**
 * Whether csv-parse reads the records of the dialect as we do. Its white space is all of Unicode's; it keeps the quotes of
 * `"a"b`; it does not say which fields were quoted; and it drops an escape before any character, while in the dialect, as for COPY, it escapes only a quote or an escape.
 */
export const isForCsvParse = ({ trim, quotes, escape, quote, quotedNulls }: Dialect): boolean =>
  trim === false && quotes === 'strict' && quotedNulls && (escape === null || escape === quote);

/**
 * csv-parse sees records as the splitter found them, with one kind of line end after each: neither comments nor blank lines. We
 * judge ragged records.
 */
export const csvOptions = (dialect: Dialect, { lineEnd }: Grammar): CsvParse.Options => ({
  columns: false,
  bom: false,
  delimiter: dialect.delimiter,
  quote: dialect.quote,
  // Otherwise a double quote, whatever the quote is.
  escape: dialect.quote,
  record_delimiter: newlines[lineEnd],
  relax_column_count: true,
  skip_empty_lines: false,
});

/** The records' fields; undefined when the bytes have none. */
export const readCsv = (
  bytes: Buffer,
  options: CsvParse.Options,
): readonly (readonly string[])[] | undefined => {
  try {
    return parse(bytes, options);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return undefined;
  }
};
