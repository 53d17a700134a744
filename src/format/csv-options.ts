// The options of csv-parse that make it read exactly a dialect.

import type { Options } from 'csv-parse/sync';
import type { Dialect } from '../declaration.ts';

/**
 * `record_delimiter` is given because csv-parse otherwise takes the first line's newline for the whole file; `trim`
 * only lets a quote stand behind blanks, the decoder trims fields itself; ragged records are ours to judge.
 */
export const csvOptions = (dialect: Dialect, skipEmptyLines: boolean): Options => ({
  columns: false,
  bom: false,
  delimiter: dialect.delimiter,
  quote: dialect.quote,
  escape: dialect.escape ?? dialect.quote,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: skipEmptyLines,
  comment: dialect.comment,
  comment_no_infix: true,
  trim: dialect.trim && dialect.quote !== null,
});
