// Finds the end of one record, or its fault, byte by byte.
//
// A broken or unclosed quote may have swallowed good lines. So only the record's first line becomes
// a fault, and the next search (walk) starts at the second line. The cost stays linear: two walks
// that cross the same line end inside quotes are equal from there on, and one failed walk is kept.

import { BACKSLASH, CR, LF } from '../../core/characters.ts';
import { recordBytesMax } from '../../core/limits.ts';
import type { RejectCode } from '../../core/model.ts';
import {
  beforeLineFeed,
  endsLine,
  isBlankByte,
  isEscape,
  lastLine,
  lineAt,
  takesHalfLineEnds,
  type Grammar,
  type LineSpan,
} from './grammar.ts';

export interface RecordEnd extends LineSpan {
  readonly fault?: RejectCode | null | undefined;
}

interface Walk {
  readonly start: number;
  at: number;
  isQuoted: boolean;
  isFieldStart: boolean;
  isAfterQuoted: boolean;
  /** Index of the last quote (next field: line end) that has no meaning, or -1. */
  strayQuote: number;
  strayLineEnd: number;
  isBroken: boolean;
  found: LineSpan | undefined;
}

/** The walk in this block that got farthest without finding a record. */
export interface Lost {
  walk: Walk | undefined;
}

const beginWalk = (start: number): Walk => ({
  start,
  at: start,
  isQuoted: false,
  isFieldStart: true,
  isAfterQuoted: false,
  strayQuote: -1,
  strayLineEnd: -1,
  isBroken: false,
  found: undefined,
});

/** Both walks cross the line end at `at` inside quotes, so `walk` continues where `other` ended. */
const follow = (walk: Walk, other: Walk, at: number): void => {
  const { isQuoted, isFieldStart, isAfterQuoted, isBroken } = other;
  Object.assign(walk, { at: other.at, isQuoted, isFieldStart, isAfterQuoted, isBroken });
  if (other.strayQuote > at) walk.strayQuote = other.strayQuote;
  if (other.strayLineEnd > at) walk.strayLineEnd = other.strayLineEnd;
};

/** True if a backslash may escape this line end: a walk outside of quotes may have skipped it. */
const mayBeEscaped = (block: Buffer, at: number, { escapesAll }: Grammar): boolean =>
  escapesAll && (block[at - 1] === BACKSLASH || (block[at - 1] === CR && block[at - 2] === BACKSLASH));

const passQuoted = (block: Buffer, walk: Walk, limit: number, grammar: Grammar, lost: Lost): void => {
  const { quote, newline } = grammar;
  const other = lost.walk;
  let { at } = walk;
  while (at < limit) {
    const byte = block[at];
    if (isEscape(block, at, grammar)) at += 2;
    else if (byte === quote) {
      walk.at = at + 1;
      walk.isQuoted = false;
      walk.isAfterQuoted = true;
      return;
    } else if (
      byte === newline &&
      !mayBeEscaped(block, at, grammar) &&
      other !== undefined &&
      other.start < at &&
      at < other.at &&
      endsLine(block, walk.start, at, grammar)
    ) {
      follow(walk, other, at);
      return;
    } else at += 1;
  }
  walk.at = at;
};

const takeText = (walk: Walk, at: number, { isLenient }: Grammar): boolean => {
  walk.isFieldStart = false;
  if (!walk.isAfterQuoted) return true;
  walk.isAfterQuoted = false;
  walk.strayQuote = at;
  walk.isBroken = !isLenient;
  return isLenient;
};

const lineEnding = (
  block: Buffer,
  { start }: Walk,
  at: number,
  { lineEnd, newline }: Grammar,
): LineSpan | undefined => {
  if (block[at] !== newline) return undefined;
  if (lineEnd === 'cr') return { end: at, next: block[at + 1] === LF ? at + 2 : at + 1 };
  const line = beforeLineFeed(block, start, at);
  return lineEnd === 'lf' || line.end < at ? line : undefined;
};

const matched = (block: Buffer, at: number, mark: Buffer): number => {
  let count = 0;
  while (count < mark.length && at + count < block.length && block[at + count] === mark[count]) count += 1;
  return count;
};

/** Ends the record at a comment, which counts towards the record's length. */
const endByComment = (block: Buffer, walk: Walk, at: number, atEnd: boolean, grammar: Grammar): void => {
  const line = lineAt(block, at, atEnd, grammar);
  if (line === undefined) walk.at = block.length;
  else walk.found = line.end - walk.start > recordBytesMax ? line : { end: at, next: line.next };
};

const skipText = (
  block: Buffer,
  from: number,
  limit: number,
  { delimiter, quote, escapesAll, infix }: Grammar,
): number => {
  const [first, comment] = [delimiter[0], infix?.[0]];
  for (let at = from; at < limit; at += 1) {
    const byte = block[at];
    if (byte === first || byte === quote || byte === LF || byte === CR || byte === comment) return at;
    if (escapesAll && byte === BACKSLASH) return at;
  }
  return limit;
};

/** Returns where an escape ends. A backslash before CRLF escapes both bytes. */
const escapedEnd = (block: Buffer, at: number, atEnd: boolean): number => {
  const isPair = block[at + 1] === CR && (block[at + 2] === LF || (at + 2 === block.length && !atEnd));
  return at + (isPair ? 2 : 1);
};

const passPlain = (block: Buffer, walk: Walk, limit: number, atEnd: boolean, grammar: Grammar): void => {
  const { delimiter, quote, trim, lineEnd, infix } = grammar;
  const first = delimiter[0]!;
  let escapedTo = -1;
  for (let { at } = walk; at < limit; at += 1) {
    // True if the previous byte is a CR. The byte at `at` decides whether this CR ends a line.
    const isHeld = lineEnd !== 'cr' && at > walk.start && at !== escapedTo && block[at - 1] === CR;
    if (!isHeld && !walk.isFieldStart && !walk.isAfterQuoted) at = skipText(block, at, limit, grammar);
    walk.at = Math.min(at + 1, limit);
    if (at === limit) return;
    const byte = block[at]!;
    if (grammar.escapesAll && byte === BACKSLASH) {
      const last = escapedEnd(block, at, atEnd);
      if (!takeText(walk, at, grammar)) return;
      at = last;
      escapedTo = at + 1;
      walk.at = Math.min(escapedTo, limit);
      continue;
    }
    const isReturn = byte === CR && lineEnd !== 'cr';
    const line = byte === LF || byte === CR ? lineEnding(block, walk, at, grammar) : undefined;
    if (line !== undefined) {
      walk.found = line;
      return;
    }
    const isStray = (isHeld && !(isReturn && lineEnd === 'lf')) || (byte === LF && !isHeld);
    if (isStray) {
      walk.strayLineEnd = at;
      if (!takeText(walk, at, grammar)) return;
    }
    if (isReturn || byte === LF) continue;
    const comment = infix === undefined ? 0 : matched(block, at, infix);
    if (comment === infix?.length) {
      endByComment(block, walk, at, atEnd, grammar);
      return;
    }
    if (byte === quote && walk.isFieldStart) {
      walk.isQuoted = true;
      walk.isFieldStart = false;
      return;
    }
    const count = byte === first ? matched(block, at, delimiter) : 0;
    if (count === delimiter.length) {
      at += count - 1;
      walk.at = at + 1;
      walk.isFieldStart = true;
      walk.isAfterQuoted = false;
    } else if (count + comment > 0 && at + Math.max(count, comment) === block.length && !atEnd) {
      // The block may end inside a delimiter or inside the start of a comment.
      walk.at = block.length;
      return;
    } else if (!(trim && (walk.isFieldStart || walk.isAfterQuoted) && isBlankByte(byte))) {
      if (!takeText(walk, at, grammar)) return;
      if (byte === quote) walk.strayQuote = at;
    }
  }
};

const faultOf = (walk: Walk, { isLenient, straysAreData }: Grammar): RecordEnd['fault'] => {
  if (walk.strayQuote !== -1 && !isLenient) return 'quote';
  if (walk.strayLineEnd !== -1 && !straysAreData) return 'line_end';
  return walk.strayQuote === -1 ? undefined : null;
};

/** Ends the last record. A CR at the end of the file was still waiting for an LF. */
const endFile = (block: Buffer, walk: Walk, grammar: Grammar): void => {
  const last = block.length - 1;
  const isText = block[last] === CR && grammar.lineEnd !== 'cr' && !takesHalfLineEnds(grammar);
  if (!isText || takeText(walk, last, grammar)) walk.found = lastLine(block, walk.start, grammar);
};

/** Finds a record's end, wherever the block ends. Undefined if more bytes are needed. */
export const recordAt = (
  block: Buffer,
  start: number,
  atEnd: boolean,
  grammar: Grammar,
  lost: Lost,
): RecordEnd | undefined => {
  // A CR and a newline may follow the last byte of the longest record.
  const limit = Math.min(block.length, start + recordBytesMax + 2);
  const walk = beginWalk(start);
  while (walk.at < limit && walk.found === undefined && !walk.isBroken)
    if (walk.isQuoted) passQuoted(block, walk, limit, grammar, lost);
    else passPlain(block, walk, limit, atEnd, grammar);
  const isWhole = walk.found !== undefined || walk.isBroken;
  const isAllSeen = limit === block.length;
  if (!isWhole && isAllSeen && !atEnd && block.length - start <= recordBytesMax + 1) return undefined;
  if (!isWhole && isAllSeen && atEnd && !walk.isQuoted) endFile(block, walk, grammar);
  if (walk.found !== undefined && walk.found.end - start <= recordBytesMax) {
    // If a CR is the block's last byte, the next byte may be an LF of the same line end.
    const isSure = grammar.lineEnd !== 'cr' || walk.found.next < block.length || atEnd;
    return isSure || block[block.length - 1] === LF
      ? { ...walk.found, fault: faultOf(walk, grammar) }
      : undefined;
  }
  // Moves back before the line end, where a later walk can also end.
  if (walk.found !== undefined) walk.at -= 1;
  if (lost.walk === undefined || walk.at >= lost.walk.at) lost.walk = walk;
  const line = lineAt(block, start, atEnd, grammar);
  return line && { ...line, fault: line.end - start > recordBytesMax ? 'record_too_long' : 'quote' };
};
