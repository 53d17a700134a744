// Converts a dialect to bytes, and finds line ends.

import { BACKSLASH, CR, LF, SPACE, TAB } from '../../core/characters.ts';
import type { Dialect, LineEnd } from '../../core/declaration.ts';

export interface Grammar {
  readonly delimiter: Buffer;
  readonly quote: number;
  readonly escape: number;
  /** A backslash escapes any byte, inside and outside of quotes. */
  readonly escapesAll: boolean;
  readonly escapes: Dialect['escapes'];
  readonly comment: Buffer | undefined;
  readonly commentLine: Buffer | undefined;
  /** Starts a comment inside a line. Undefined if comments are whole lines. */
  readonly infix: Buffer | undefined;
  /** Blanks and tabs around quotes are dropped. A line of only blanks is then blank. */
  readonly trim: boolean;
  readonly trimsPlain: boolean;
  /** Quotes inside unquoted fields, and text after a closing quote, are data. */
  readonly isLenient: boolean;
  readonly lineEnd: LineEnd;
  readonly newline: number;
  /** Other line ends outside of quotes are data. False: they are a fault of the record. */
  readonly straysAreData: boolean;
  /** In files with one field, an empty line is a record. */
  readonly keepEmpty: boolean;
}

/** `found` is the file's line end, used if the dialect says 'auto'. */
export const grammarOf = (dialect: Dialect, fields: number, found: LineEnd): Grammar => {
  const lineEnd = dialect.lineEnd === 'auto' ? found : dialect.lineEnd;
  const comment = dialect.comment === null ? undefined : Buffer.from(dialect.comment);
  return {
    delimiter: Buffer.from(dialect.delimiter),
    quote: dialect.quote === null ? -1 : dialect.quote.charCodeAt(0),
    escape: dialect.quote === null ? -1 : (dialect.escape ?? dialect.quote).charCodeAt(0),
    escapesAll: dialect.escapes !== null,
    escapes: dialect.escapes,
    comment,
    commentLine: comment && Buffer.from(`\n${dialect.comment}`),
    infix: dialect.comments === 'infix' ? comment : undefined,
    trim: dialect.trim !== false,
    trimsPlain: dialect.trim === 'outside',
    isLenient: dialect.quotes === 'lenient',
    lineEnd,
    newline: lineEnd === 'cr' ? CR : LF,
    straysAreData: dialect.lineEnd !== 'auto',
    keepEmpty: fields === 1,
  };
};

export const startsWith = (block: Buffer, at: number, prefix: Buffer): boolean => {
  for (let index = 0; index < prefix.length; index += 1)
    if (block[at + index] !== prefix[index]) return false;
  return true;
};

export const isBlankByte = (byte: number | undefined): boolean => byte === SPACE || byte === TAB;

export const mayHoldComment = (block: Buffer, { comment, commentLine, infix }: Grammar): boolean =>
  comment !== undefined && (startsWith(block, 0, comment) || block.includes(infix ?? commentLine!));

export const countLines = (block: Buffer, from: number, to: number, newline: number): number => {
  let count = 0;
  for (let at = from; at < to; at += 1) if (block[at] === newline) count += 1;
  return count;
};

export interface LineSpan {
  readonly end: number;
  readonly next: number;
}

export const beforeLineFeed = (block: Buffer, from: number, end: number): LineSpan => ({
  end: end > from && block[end - 1] === CR ? end - 1 : end,
  next: end + 1,
});

export const endsLine = (block: Buffer, from: number, at: number, { lineEnd }: Grammar): boolean =>
  lineEnd !== 'crlf' || (at > from && block[at - 1] === CR);

/** Finds a line's end, whether in quotes or not. Undefined if it may be in later bytes. */
export const lineAt = (
  block: Buffer,
  from: number,
  atEnd: boolean,
  grammar: Grammar,
): LineSpan | undefined => {
  const { newline, lineEnd } = grammar;
  let at = block.indexOf(newline, from);
  while (at !== -1 && !endsLine(block, from, at, grammar)) at = block.indexOf(newline, at + 1);
  if (at === -1) return atEnd ? lastLine(block, from, grammar) : undefined;
  if (lineEnd !== 'cr') return beforeLineFeed(block, from, at);
  // If a CR is the block's last byte, the next byte may be an LF of the same line end.
  if (at + 1 === block.length && !atEnd) return undefined;
  return { end: at, next: block[at + 1] === LF ? at + 2 : at + 1 };
};

/** True if a CR at the end of the file is half of a CRLF. With a declared line end, it is data. */
export const takesHalfLineEnds = ({ lineEnd, straysAreData }: Grammar): boolean =>
  lineEnd !== 'cr' && !straysAreData;

export const lastLine = (block: Buffer, from: number, grammar: Grammar): LineSpan => ({
  end: takesHalfLineEnds(grammar) ? beforeLineFeed(block, from, block.length).end : block.length,
  next: block.length,
});

export const isEscape = (bytes: Buffer, at: number, { quote, escape, escapesAll }: Grammar): boolean =>
  (bytes[at] === escape && (bytes[at + 1] === quote || bytes[at + 1] === escape)) ||
  (escapesAll && bytes[at] === BACKSLASH);

const skipQuoted = (block: Buffer, openQuote: number, grammar: Grammar): number => {
  for (let at = openQuote + 1; at < block.length; at += 1)
    if (isEscape(block, at, grammar)) at += 1;
    else if (block[at] === grammar.quote) return at + 1;

  return -1;
};

/**
 * Finds the first line end outside of quotes. Undefined: the bytes do not suffice. `isRaw`: the
 * first line is a comment or skipped, so its quotes have no meaning.
 */
export const findLineEnd = (
  bytes: Buffer,
  atEnd: boolean,
  grammar: Grammar,
  isRaw: boolean,
): LineEnd | undefined => {
  const { delimiter, quote, trim, infix } = grammar;
  let isFieldStart = !isRaw;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === LF) return 'lf';
    if (byte === CR) {
      let after = at + 1;
      while (bytes[after] === CR) after += 1;
      if (after === bytes.length && !atEnd) return undefined;
      return bytes[after] === LF ? 'lf' : 'cr';
    }
    if (isRaw) continue;
    if (grammar.escapesAll && byte === BACKSLASH) {
      at += 1;
      isFieldStart = false;
      continue;
    }
    if (infix !== undefined && startsWith(bytes, at, infix))
      return findLineEnd(bytes.subarray(at), atEnd, grammar, true);
    if (isFieldStart && byte === quote) {
      const after = skipQuoted(bytes, at, grammar);
      // A quote that is never closed rejects only its line, so the end of this line counts.
      if (after === -1) return atEnd ? findLineEnd(bytes, atEnd, grammar, true) : undefined;
      at = after - 1;
      isFieldStart = false;
    } else if (startsWith(bytes, at, delimiter)) {
      at += delimiter.length - 1;
      isFieldStart = true;
    } else if (!trim || !isBlankByte(byte)) isFieldStart = false;
  }
  return undefined;
};
