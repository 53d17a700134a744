// Reads the fields of a single record, and writes records as RFC 4180.

import type { Dialect } from '../../core/declaration.ts';
import { unquotedReader } from './null-tokens.ts';
import { isQuoteFault, nullMark, rawFields, type QuoteFault } from './raw-fields.ts';
import { grammarOf } from './grammar.ts';

/** Returns the fields' texts, not trimmed, or the misplaced quote. */
export const recordFields = (record: Buffer, dialect: Dialect): readonly string[] | QuoteFault => {
  // Number of fields and line end do not matter within a record.
  const fields = rawFields(record, grammarOf(dialect, 2, 'lf'));
  return isQuoteFault(fields) ? fields : fields.map(({ content }) => content?.toString() ?? nullMark);
};

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

/** Returns fields as a correction file shows them. Undefined if it cannot show the bytes. */
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
  // A field with the text `\N` would become null when the correction is read.
  const isUnclear = marksNulls(dialect) && texts.includes(nullMark);
  if (isUnclear) return undefined;
  return asManyAs(
    count,
    texts.map((text) => text ?? nullMark),
    dialect,
  );
};

const marksNulls = ({ escapes, quotedNulls }: Dialect): boolean => escapes !== null || !quotedNulls;

/** Correction files are RFC 4180, with names and null tokens as in the source. */
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

export const csvRecord = (fields: readonly (string | number)[], lineEnd: '\n' | '\r\n'): string =>
  `${fields.map((field) => csvField(String(field))).join(',')}${lineEnd}`;
