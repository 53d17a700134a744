// Makes csv-parse read a dialect exactly: chooses its options, and rewrites bytes that it would misread.

import type { Options } from 'csv-parse/sync';
import type { Dialect } from '../declaration.ts';
import { isBlankByte, isEscape, skipQuoted, type Grammar } from './split/grammar.ts';

/**
 * csv-parse sees records as the splitter found them, with one kind of line end after each: neither comments nor blank lines. It does
 * not trim, because its white space is all of Unicode's and ours is blanks and tabs. We judge ragged records.
 */
export const csvOptions = (dialect: Dialect, { lineEnd }: Grammar): Options => ({
  columns: false,
  bom: false,
  // As bytes: the decoder also parses bytes as latin1, in which a delimiter beyond ASCII would be another one.
  delimiter: Buffer.from(dialect.delimiter),
  quote: dialect.quote,
  escape: dialect.escape ?? dialect.quote,
  record_delimiter: newlines[lineEnd],
  relax_column_count: true,
  skip_empty_lines: false,
});

const newlines = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/** Whether the bytes may hold a quote; without one, fields are the texts between delimiters. */
export const hasQuote = (bytes: Buffer, { quote }: Grammar): boolean => quote !== -1 && bytes.includes(quote);

/**
 * Makes the function that rewrites records for csv-parse: one, or several with line ends between.
 *
 * Blanks that are trimmed outside of quotes are left out. An escape that means itself is doubled: csv-parse drops an escape before
 * any character, while in the dialect, as for COPY, it escapes only a quote or an escape. Fields that only lenient reading takes get
 * correct quotes. Undefined: csv-parse reads the records as they are.
 */
export const csvRewriter = (
  { trim, quotes, escape, quote }: Dialect,
  grammar: Grammar,
): ((record: Buffer) => Buffer) | undefined => {
  const isPlain = trim === false && quotes === 'strict' && (escape === null || escape === quote);
  return isPlain ? undefined : (record) => rewriteRecord(record, grammar, trim === 'outside');
};

/** Records with a line end after each. */
export const joinRecords = (records: readonly Buffer[], { lineEnd }: Grammar): Buffer => {
  const newline = Buffer.from(newlines[lineEnd]);
  return Buffer.concat(records.flatMap((record) => [record, newline]));
};

/** A field: its rewritten bytes, and where the record goes on. */
interface RewrittenField {
  readonly parts: readonly Buffer[];
  readonly end: number;
}

const rewriteRecord = (record: Buffer, grammar: Grammar, trimsPlain: boolean): Buffer => {
  const { delimiter } = grammar;
  const parts: Buffer[] = [];
  for (let at = 0; ; at += delimiter.length) {
    const field = rewriteField(record, at, grammar, trimsPlain);
    parts.push(...field.parts);
    at = field.end;
    if (at === record.length) return Buffer.concat(parts);
    parts.push(delimiter);
  }
};

const rewriteField = (
  record: Buffer,
  from: number,
  grammar: Grammar,
  trimsPlain: boolean,
): RewrittenField => {
  const { quote, trim, isLenient } = grammar;
  const endFrom = (at: number): number => {
    const found = record.indexOf(grammar.delimiter, at);
    return found === -1 ? record.length : found;
  };
  let open = from;
  while (trim && open < record.length && open < endFrom(from) && isBlankByte(record[open])) open += 1;
  const isQuoted = record[open] === quote;
  const after = isQuoted ? skipQuoted(record, open, grammar) : -1;
  // Never closed: csv-parse reports it, with the field.
  if (isQuoted && after === -1) return { parts: [record.subarray(open)], end: record.length };
  if (after === -1) {
    const end = endFrom(from);
    const raw = record.subarray(from, end);
    const field = trimsPlain ? withoutBlanks(raw) : raw;
    const needsQuotes = isLenient && field.includes(quote);
    if (needsQuotes || (field.length < raw.length && isCutShort(field, grammar)))
      return { parts: quoteAgain([], field, grammar), end };
    return { parts: [field], end };
  }
  const end = endFrom(after);
  const content = doubleLoneEscapes(record.subarray(open + 1, after - 1), grammar);
  const tail = record.subarray(after, end);
  const mark = Buffer.of(quote);
  if (trim && withoutBlanks(tail).length === 0) return { parts: [mark, ...content, mark], end };
  if (isLenient) {
    const text = trimsPlain ? tail.subarray(0, textEnd(tail)) : tail;
    return { parts: quoteAgain(content, text, grammar), end };
  }
  return { parts: [mark, ...content, mark, tail], end };
};

/** Once its blanks are left out, the field's end and the delimiter after it may form an earlier delimiter: `x| ||`. */
const isCutShort = (field: Buffer, { delimiter }: Grammar): boolean =>
  Buffer.concat([field, delimiter]).indexOf(delimiter) < field.length;

const textEnd = (field: Buffer): number => {
  let end = field.length;
  while (end > 0 && isBlankByte(field[end - 1])) end -= 1;
  return end;
};

const withoutBlanks = (field: Buffer): Buffer => {
  const end = textEnd(field);
  let start = 0;
  while (start < end && isBlankByte(field[start])) start += 1;
  return field.subarray(start, end);
};

/** A quoted field of content that is escaped, and of text that is not. */
const quoteAgain = (
  content: readonly Buffer[],
  text: Buffer,
  { quote, escape }: Grammar,
): readonly Buffer[] => {
  const mark = Buffer.of(quote);
  const escaped: number[] = [];
  for (const byte of text) {
    if (byte === quote || byte === escape) escaped.push(escape);
    escaped.push(byte);
  }
  return [mark, ...content, Buffer.from(escaped), mark];
};

/** The content of a quoted field in which every escape that means itself is doubled. */
const doubleLoneEscapes = (content: Buffer, grammar: Grammar): readonly Buffer[] => {
  const { quote, escape } = grammar;
  const parts: Buffer[] = [];
  let kept = 0;
  for (let at = 0; escape !== quote && at < content.length; at += 1) {
    if (content[at] !== escape) continue;
    if (isEscape(content, at, grammar)) at += 1;
    else {
      parts.push(content.subarray(kept, at), Buffer.of(escape));
      kept = at;
    }
  }
  return [...parts, content.subarray(kept)];
};
