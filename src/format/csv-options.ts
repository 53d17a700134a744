// What makes csv-parse read exactly a dialect: its options, and the bytes as it has to see them.

import type { Options } from 'csv-parse/sync';
import type { Dialect } from '../declaration.ts';
import { grammarOf, skipQuoted, startsWith, type Grammar } from './splitter.ts';

/**
 * `record_delimiter` is given because csv-parse otherwise takes the first line's newline for the whole file. It does not
 * trim: its white space is all of Unicode's, ours is blanks and tabs. Ragged records are ours to judge.
 */
export const csvOptions = (dialect: Dialect, skipEmptyLines: boolean): Options => ({
  columns: false,
  bom: false,
  // As bytes: the decoder also parses bytes as latin1, in which a delimiter beyond ASCII would be another one.
  delimiter: Buffer.from(dialect.delimiter),
  quote: dialect.quote,
  escape: dialect.escape ?? dialect.quote,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: skipEmptyLines,
  comment: dialect.comment,
  comment_no_infix: true,
});

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;

/** Whether a quote may stand in the bytes; where none does, the fields are what is between delimiters. */
export const hasQuote = (bytes: Buffer, { quote }: Dialect): boolean =>
  quote !== null && bytes.includes(quote);

/**
 * The bytes as csv-parse has to see them. With `trim`, blanks around quotes are left out. An escape that means itself
 * is doubled: csv-parse drops an escape before any character, while in the dialect, as for COPY, it escapes only a quote
 * or an escape.
 */
export const csvBytes = (bytes: Buffer, dialect: Dialect): Buffer => {
  const { quote, escape, trim } = dialect;
  if (!hasQuote(bytes, dialect)) return bytes;
  const hasEscape = escape !== null && escape !== quote && bytes.includes(escape);
  return trim || hasEscape ? rewriteQuoted(bytes, grammarOf(dialect, 2)) : bytes;
};

const rewriteQuoted = (bytes: Buffer, grammar: Grammar): Buffer => {
  const { delimiter, quote, trim } = grammar;
  const parts: Buffer[] = [];
  let kept = 0;
  const goOnAt = (next: number, from: number): void => {
    parts.push(bytes.subarray(kept, from));
    kept = next;
  };
  /** First byte of the field, or -1 when it holds more than blanks. */
  let fieldStart = 0;
  let afterQuoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote && fieldStart !== -1) {
      goOnAt(at, fieldStart);
      const after = skipQuoted(bytes, at, grammar);
      if (after === -1) break;
      for (const escape of loneEscapes(bytes, at + 1, after, grammar)) goOnAt(escape, escape + 1);
      at = after - 1;
      fieldStart = -1;
      afterQuoted = true;
    } else if (byte === LF || byte === CR) {
      fieldStart = at + 1;
      afterQuoted = false;
    } else if (byte === delimiter[0] && startsWith(bytes, at, delimiter)) {
      at += delimiter.length - 1;
      fieldStart = at + 1;
      afterQuoted = false;
    } else if (!trim || (byte !== SPACE && byte !== TAB)) {
      fieldStart = -1;
      afterQuoted = false;
    } else if (afterQuoted) goOnAt(at + 1, at);
  }
  return Buffer.concat([...parts, bytes.subarray(kept)]);
};

/** Escapes within a quoted field that have neither quote nor escape behind them. */
const loneEscapes = (bytes: Buffer, from: number, to: number, { quote, escape }: Grammar): number[] => {
  const found: number[] = [];
  if (escape === quote) return found;
  for (let at = from; at < to; at += 1) {
    if (bytes[at] !== escape) continue;
    if (bytes[at + 1] === quote || bytes[at + 1] === escape) at += 1;
    else found.push(at);
  }
  return found;
};
