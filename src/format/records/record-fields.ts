// The fields of a single record: read by the dialect of its file, and written as RFC 4180.

import type { Dialect } from '../../core/declaration/declaration.ts';
import { unquotedReader } from './null-tokens.ts';
import { isQuoteFault, nullMark, rawFields, type QuoteFault } from './raw-fields.ts';
import { grammarOf } from '../split/grammar.ts';

/** The texts of the fields, not trimmed; or why the bytes have none. */
export const recordFields = (record: Buffer, dialect: Dialect): readonly string[] | QuoteFault => {
  // Neither the number of fields nor the line end matters within a record.
  const fields = rawFields(record, grammarOf(dialect, 2, 'lf'));
  return isQuoteFault(fields) ? fields : fields.map(({ content }) => content?.toString() ?? nullMark);
};

/** As many fields as the header has, where the dialect says what surplus and missing ones mean. */
const asManyAs = (
  count: number,
  fields: readonly string[],
  dialect: Dialect,
): readonly string[] | undefined => {
  const missing = count - fields.length;
  if (missing === 0) return fields;
  if (missing < 0) return dialect.ragged === 'cut' ? fields.slice(0, count) : undefined;
  const nothing = marksNulls(dialect) ? nullMark : dialect.nulls.includes('') ? '' : dialect.nulls[0];
  if (dialect.ragged !== 'pad' || nothing === undefined) return undefined;
  return [...fields, ...Array<string>(missing).fill(nothing)];
};

/**
 * The texts of the fields as a correction has them, as many as the header has, with `\N` for null where an escape, or a field without
 * quotes, makes it null; undefined when the bytes have no such texts.
 */
export const correctableFields = (
  record: Buffer,
  dialect: Dialect,
  count: number,
): readonly string[] | undefined => {
  const fields = rawFields(record, grammarOf(dialect, 2, 'lf'));
  if (isQuoteFault(fields)) return undefined;
  const readUnquoted = unquotedReader(dialect);
  const texts = fields.map(({ content, isQuoted }) => {
    const text = content?.toString();
    return text === undefined || isQuoted ? text : readUnquoted(text);
  });
  // The correction of a text that is the mark would be null.
  const isUnclear = marksNulls(dialect) && texts.includes(nullMark);
  if (isUnclear) return undefined;
  return asManyAs(
    count,
    texts.map((text) => text ?? nullMark),
    dialect,
  );
};

const marksNulls = ({ escapes, quotedNulls }: Dialect): boolean => escapes !== null || !quotedNulls;

/** How corrections are written: as RFC 4180, while values mean what they mean in the dialect. */
export const correctedDialect = (dialect: Dialect): Dialect => {
  const { header, match, trim, nulls, quotedNulls } = dialect;
  const texts = quotedNulls ? nulls : [];
  return {
    ...writtenDialect,
    header,
    match,
    trim,
    nulls: marksNulls(dialect) ? [nullMark, ...texts] : texts,
  };
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
  quotedNulls: true,
  skipLines: 0,
  comment: null,
  comments: 'lines',
  ragged: 'reject',
};

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A record with its line end. */
export const csvRecord = (fields: readonly (string | number)[], lineEnd: '\n' | '\r\n'): string =>
  `${fields.map((field) => csvField(String(field))).join(',')}${lineEnd}`;
