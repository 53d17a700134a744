// The fields of a single record: read by the dialect of its file, and written as RFC 4180.

import type { Dialect } from '../declaration.ts';
import { isQuoteFault, rawFields, type QuoteFault } from './raw-fields.ts';
import { grammarOf } from './split/grammar.ts';

/** The texts of the fields, not trimmed; or why the bytes have none. */
export const recordFields = (record: Buffer, dialect: Dialect): readonly string[] | QuoteFault => {
  // Neither the number of fields nor the line end matters within a record.
  const fields = rawFields(record, grammarOf(dialect, 2, 'lf'));
  return isQuoteFault(fields) ? fields : fields.map(({ content }) => content?.toString() ?? String.raw`\N`);
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
