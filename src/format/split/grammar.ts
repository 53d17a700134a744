// The bytes of a dialect that end records and lines, looked up once.

import type { Dialect, LineEnd } from '../../core/declaration/declaration.ts';

export const LF = 10;
export const CR = 13;
const SPACE = 32;
const TAB = 9;
export const BACKSLASH = 92;

export interface Grammar {
  readonly delimiter: Buffer;
  readonly quote: number;
  readonly escape: number;
  /** A backslash escapes any byte, within quotes and outside. */
  readonly escapesAll: boolean;
  readonly escapes: Dialect['escapes'];
  readonly comment: Buffer | undefined;
  /** A line feed and what begins a comment. */
  readonly commentLine: Buffer | undefined;
  /** Begins a comment within a line, outside of quotes. */
  readonly infix: Buffer | undefined;
  /** Blanks and tabs may stand around quotes, and a line of nothing else is blank. */
  readonly trim: boolean;
  /** Blanks and tabs around fields are left out, but for those within quotes. */
  readonly trimsPlain: boolean;
  /** Quotes within unquoted fields, and text after a closing quote, are data. */
  readonly isLenient: boolean;
  readonly lineEnd: LineEnd;
  /** The byte that counts as a line. */
  readonly newline: number;
  /** Another line end outside of quotes is data; otherwise it is a fault of its record. */
  readonly straysAreData: boolean;
  /** A file of one field may have records without a single byte; in others an empty line is no record. */
  readonly keepEmpty: boolean;
}

/** `found`: how the file's lines end, for a dialect that leaves it to the file. */
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

/** Whether a comment may begin in the block, which begins at a line. */
export const mayHoldComment = (block: Buffer, { comment, commentLine, infix }: Grammar): boolean =>
  comment !== undefined && (startsWith(block, 0, comment) || block.includes(infix ?? commentLine!));

/** Lines that end in [from, to), also within quotes. */
export const countLines = (block: Buffer, from: number, to: number, newline: number): number => {
  let count = 0;
  for (let at = from; at < to; at += 1) if (block[at] === newline) count += 1;
  return count;
};

/** Where a line ends. `next` is the first byte after its line end. */
export interface LineSpan {
  readonly end: number;
  readonly next: number;
}

/** The line [from, end) with its LF at `end`; one CR before the LF does not belong to the line. */
export const beforeLineFeed = (block: Buffer, from: number, end: number): LineSpan => ({
  end: end > from && block[end - 1] === CR ? end - 1 : end,
  next: end + 1,
});

/** True when the newline byte at `at` ends a line. */
export const endsLine = (block: Buffer, from: number, at: number, { lineEnd }: Grammar): boolean =>
  lineEnd !== 'crlf' || (at > from && block[at - 1] === CR);

/** The line that begins at `from`, quotes or not; undefined when its end is not in the block for sure. */
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
  // A line feed may follow a carriage return that is the block's last byte.
  if (at + 1 === block.length && !atEnd) return undefined;
  return { end: at, next: block[at + 1] === LF ? at + 2 : at + 1 };
};

/** Whether carriage returns at the end of a file are half a line end; if the dialect names the line end, they are data. */
export const takesHalfLineEnds = ({ lineEnd, straysAreData }: Grammar): boolean =>
  lineEnd !== 'cr' && !straysAreData;

/** The last line of a file, without a line end. Half a line end does not belong to it. */
export const lastLine = (block: Buffer, from: number, grammar: Grammar): LineSpan => ({
  end: takesHalfLineEnds(grammar) ? beforeLineFeed(block, from, block.length).end : block.length,
  next: block.length,
});

/** Within quotes: an escape before the byte that it escapes. Elsewhere it means itself. */
export const isEscape = (bytes: Buffer, at: number, { quote, escape, escapesAll }: Grammar): boolean =>
  (bytes[at] === escape && (bytes[at + 1] === quote || bytes[at + 1] === escape)) ||
  (escapesAll && bytes[at] === BACKSLASH);

/** Skips a quoted field; returns the byte after its closing quote, or -1 when that is not in the block. */
const skipQuoted = (block: Buffer, openQuote: number, grammar: Grammar): number => {
  for (let at = openQuote + 1; at < block.length; at += 1)
    if (isEscape(block, at, grammar)) at += 1;
    else if (block[at] === grammar.quote) return at + 1;

  return -1;
};

/**
 * How the lines of a file end, by its first line end outside of quotes; undefined when the bytes do not tell. `isRaw`: the first line
 * is no record, and quotes mean nothing in it.
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
      // A quote that is never closed costs its line, whose end counts.
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
