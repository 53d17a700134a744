// The only file that loads csv-parse/sync. Also knows which dialects csv-parse reads like sluice.

import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse/sync';
import type { Dialect } from '../../core/declaration/declaration.ts';
import type { Grammar } from '../split/grammar.ts';

/** Loads the CommonJS build: one file, where each thread would load a dozen ES modules. */
const { CsvError, parse } = createRequire(import.meta.url)('csv-parse/sync') as typeof CsvParse;

export const newlines = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/**
 * True if csv-parse reads the dialect's records as sluice does. It differs in four ways: it trims
 * all of Unicode's white space; it keeps the quotes of `"a"b`; it does not say which fields were
 * quoted; and it drops an escape before any character, while the dialect, like COPY, drops it only
 * before a quote or an escape.
 */
export const isForCsvParse = ({ trim, quotes, escape, quote, quotedNulls }: Dialect): boolean =>
  trim === false && quotes === 'strict' && quotedNulls && (escape === null || escape === quote);

/**
 * csv-parse gets the records that the splitter found, with line ends unified, without comments and
 * blank lines. The caller checks the number of fields.
 */
export const csvOptions = (dialect: Dialect, { lineEnd }: Grammar): CsvParse.Options => ({
  columns: false,
  bom: false,
  delimiter: dialect.delimiter,
  quote: dialect.quote,
  // Without this option, csv-parse takes '"' as escape, even if the quote is another character.
  escape: dialect.quote,
  record_delimiter: newlines[lineEnd],
  relax_column_count: true,
  skip_empty_lines: false,
});

/** Returns the records' fields, or undefined if csv-parse refuses the bytes. */
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
