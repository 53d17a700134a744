// The fields of a single record: read by the dialect of its file, and written as RFC 4180.

import type { Dialect, LineEnd } from '../declaration.ts';
import { isCsvFault, readCsv, type CsvFault } from './csv-parse.ts';
import { escapedFields } from './escaped-fields.ts';
import { csvOptions, csvRewriter } from './csv-options.ts';
import { BACKSLASH, grammarOf } from './split/grammar.ts';

/** The texts of the fields, not trimmed; or why the bytes have none. `count`: fields that the file has, as far as is known. */
export const recordFields = (
  record: Buffer,
  dialect: Dialect,
  count: number,
  lineEnd: LineEnd,
): readonly string[] | CsvFault => {
  const grammar = grammarOf(dialect, count, lineEnd);
  if (dialect.escapes !== null && record.includes(BACKSLASH))
    return escapedFields(record, grammar, dialect.escapes).map(
      (field) => field?.toString() ?? String.raw`\N`,
    );
  const rewrite = csvRewriter(dialect, grammar);
  const read = readCsv(rewrite === undefined ? record : rewrite(record), csvOptions(dialect, grammar));
  return isCsvFault(read) ? read : (read[0] ?? []);
};

/** The dialect of records that are written here. */
export const writtenDialect: Dialect = {
  delimiter: ',',
  quote: '"',
  escape: '"',
  escapes: null,
  header: false,
  headerLines: 1,
  match: 'exact',
  quotes: 'strict',
  lineEnd: 'lf',
  trim: false,
  nulls: [''],
  skipLines: 0,
  comment: null,
  ragged: 'reject',
};

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A record with its line end. */
export const csvRecord = (fields: readonly (string | number)[], lineEnd: '\n' | '\r\n'): string =>
  `${fields.map((field) => csvField(String(field))).join(',')}${lineEnd}`;
