// Finds where records begin and end. Pure: bytes in, offsets out; knows quotes, never looks into fields.
//
// A block handed in always begins at a record. A quote opens a quoted field only at the field's start, as RFC 4180 §2
// has it; elsewhere it is data for the purpose of boundaries, so that a stray quote costs one record and not the file.

import type { Dialect } from '../declaration.ts';
import type { RejectCode } from '../model.ts';
import { recordBytesMax } from '../limits.ts';
import { addRecord, createRecordList, createRecordPass, type RecordList } from './simd/record-pass.ts';
import type { QuoteRule } from './simd/record-scan.ts';

/** Records of one block, as parallel lists of offsets into it. */
export interface RecordSpans {
  /** First byte of each record. */
  readonly starts: Int32Array;
  /** Byte after each record's last, without its newline. */
  readonly ends: Int32Array;
  /** Newlines in the block before each record's first byte. */
  readonly lines: Int32Array;
  /** Records (by place in the lists) that have no end of their own and are rejected as they are. */
  readonly faults: Map<number, RejectCode>;
  /** Bytes that belong to whole records and the blank or comment lines among them. */
  readonly consumed: number;
  /** Newlines among the consumed bytes. */
  readonly newlines: number;
  /** True only when records cover the consumed bytes without fault, gap or other newline: each is followed by one LF. */
  readonly plain: boolean;
}

/** Splits a block that begins at a record. `atEnd`: no bytes follow, so what is left is the last record. */
export type Splitter = (block: Buffer, atEnd: boolean) => RecordSpans;

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;

/** The bytes that matter, looked up once. */
export interface Grammar {
  readonly delimiter: Buffer;
  readonly quote: number;
  readonly escape: number;
  readonly comment: Buffer | undefined;
  readonly trim: boolean;
  /** A file of one field may have records without a single byte; in others an empty line is no record. */
  readonly keepEmpty: boolean;
}

export const grammarOf = (dialect: Dialect, fields: number): Grammar => ({
  delimiter: Buffer.from(dialect.delimiter),
  quote: dialect.quote === null ? -1 : dialect.quote.charCodeAt(0),
  escape: (dialect.escape ?? dialect.quote ?? '\0').charCodeAt(0),
  comment: dialect.comment === null ? undefined : Buffer.from(dialect.comment),
  trim: dialect.trim,
  keepEmpty: fields === 1,
});

export const startsWith = (block: Buffer, at: number, prefix: Buffer): boolean => {
  for (let index = 0; index < prefix.length; index += 1)
    if (block[at + index] !== prefix[index]) return false;
  return true;
};

/** Newlines of a record that spans several lines: CRLF, LF and CR count one each. */
export const countNewlines = (block: Buffer, from: number, to: number): number => {
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const byte = block[at];
    if (byte === LF || (byte === CR && block[at + 1] !== LF)) count += 1;
  }
  return count;
};

/** A loop, because a view of every quoted field would cost more than all the rest. */
const holdsNewline = (block: Buffer, from: number, to: number): boolean => {
  for (let at = from; at < to; at += 1) if (block[at] === LF || block[at] === CR) return true;
  return false;
};

/** Where the next record ends, or why it has none. `next` is the first byte after its newline. */
interface RecordEnd {
  readonly end: number;
  readonly next: number;
  readonly multiline: boolean;
  readonly fault?: RejectCode;
}

/** First newline at or after `from`; undefined when it is not in the block for sure. */
export const lineEnd = (block: Buffer, from: number, atEnd: boolean): RecordEnd | undefined => {
  for (let at = from; at < block.length; at += 1) {
    const byte = block[at];
    if (byte === LF) return { end: at, next: at + 1, multiline: false };
    if (byte !== CR) continue;
    // A carriage return that is the block's last byte may be half of CRLF.
    if (at + 1 === block.length && !atEnd) return undefined;
    return { end: at, next: block[at + 1] === LF ? at + 2 : at + 1, multiline: false };
  }
  return atEnd ? { end: block.length, next: block.length, multiline: false } : undefined;
};

/** Skips a quoted field; returns the byte after its closing quote, or -1 when that is not in the block. */
export const skipQuoted = (block: Buffer, openQuote: number, { quote, escape }: Grammar): number => {
  for (let at = openQuote + 1; at < block.length; at += 1) {
    const byte = block[at];
    if (byte === escape && escape !== quote && (block[at + 1] === quote || block[at + 1] === escape)) at += 1;
    else if (byte === quote) {
      if (escape !== quote || block[at + 1] !== quote) return at + 1;
      at += 1;
    }
  }
  return -1;
};

/** End of the record that begins at `start`, reading quotes; 'open' when a quoted field is not closed in the block. */
const recordEnd = (
  block: Buffer,
  start: number,
  atEnd: boolean,
  grammar: Grammar,
): RecordEnd | undefined | 'open' => {
  const { delimiter, quote, trim } = grammar;
  const firstDelimiterByte = delimiter[0]!;
  let fieldStart = true;
  let afterQuoted = false;
  let fault: RejectCode | undefined;
  let multiline = false;
  for (let at = start; at < block.length; at += 1) {
    const byte = block[at]!;
    if (fieldStart && byte === quote) {
      const after = skipQuoted(block, at, grammar);
      // A quote that is the block's last byte may be the first half of a doubled one.
      if (after === -1 || (after === block.length && !atEnd)) return 'open';
      multiline ||= holdsNewline(block, at, after);
      at = after - 1;
      fieldStart = false;
      afterQuoted = true;
    } else if (byte === LF || byte === CR) {
      const end = lineEnd(block, at, atEnd);
      return end && { ...end, multiline, fault };
    } else if (byte === firstDelimiterByte && startsWith(block, at, delimiter)) {
      at += delimiter.length - 1;
      fieldStart = true;
      afterQuoted = false;
    } else if (!(trim && (fieldStart || afterQuoted) && (byte === SPACE || byte === TAB))) {
      // COPY would read on in quotes, over the record's end, or drop them without a word.
      if (afterQuoted || byte === quote) fault = 'quote';
      fieldStart = false;
    }
  }
  return atEnd ? { end: block.length, next: block.length, multiline, fault } : undefined;
};

/**
 * The record at `start`, with its fault; undefined when more bytes are needed. What is said of a record depends on its
 * own bytes, never on where the block ends.
 */
const recordAt = (block: Buffer, start: number, atEnd: boolean, grammar: Grammar): RecordEnd | undefined => {
  const found = recordEnd(block, start, atEnd, grammar);
  const isWhole = found !== undefined && found !== 'open';
  if (isWhole && found.end - start <= recordBytesMax) return found;
  // A carriage return at the end of the block may belong to the newline: one byte more is not yet too long.
  if (!isWhole && !atEnd && block.length - start <= recordBytesMax + 1) return undefined;
  // The quote is never closed, or too far away: its line is the reject, and reading goes on at the next line.
  const line = lineEnd(block, start, atEnd);
  return line && { ...line, fault: line.end - start > recordBytesMax ? 'record_too_long' : 'quote' };
};

/** True when the record and its newline are plain: see RecordSpans. */
const isPlain = (block: Buffer, { end, next, fault }: RecordEnd): boolean =>
  fault === undefined && next === end + 1 && block[end] === LF;

/** Bytes that the fast pass understands: see simd/record-scan.ts. */
const ruleOf = ({ delimiter, quote, escape, keepEmpty }: Grammar): QuoteRule => ({
  quote,
  delimiter: delimiter.length === 1 && escape === quote ? delimiter[0]! : -1,
  keepEmpty,
});

/** Regular records by the fast pass, the others one after the other; comments and blank lines are left out. */
const splitBlock = (
  block: Buffer,
  atEnd: boolean,
  grammar: Grammar,
  rule: QuoteRule,
  list: RecordList,
): RecordSpans => {
  const { comment, keepEmpty } = grammar;
  const faults = new Map<number, RejectCode>();
  const takeRegular = comment === undefined ? createRecordPass(block, list, rule) : undefined;
  const place = { at: 0, line: 0 };
  list.length = 0;
  list.plain = true;
  while (place.at < block.length) {
    takeRegular?.(place);
    const { at, line } = place;
    if (at === block.length) break;
    const isComment = comment !== undefined && startsWith(block, at, comment);
    const found = isComment ? lineEnd(block, at, atEnd) : recordAt(block, at, atEnd, grammar);
    if (found === undefined) break;
    const isRecord = !isComment && (found.end > at || keepEmpty);
    if (found.fault !== undefined) faults.set(list.length, found.fault);
    if (isRecord) addRecord(list, at, found.end, line);
    if (!isRecord || !isPlain(block, found)) list.plain = false;
    place.at = found.next;
    place.line += found.multiline ? countNewlines(block, at, found.end) : 0;
    place.line += found.next > found.end ? 1 : 0;
  }
  return {
    starts: list.starts.slice(0, list.length),
    ends: list.ends.slice(0, list.length),
    lines: list.lines.slice(0, list.length),
    faults,
    consumed: place.at,
    newlines: place.line,
    plain: list.plain,
  };
};

/**
 * Makes the splitter for a dialect and a number of fields.
 *
 * What it returns covers whole records only; the caller hands the rest in again with more bytes behind it. When a block
 * of more than `recordBytesMax` + 1 bytes holds no whole record (`consumed` is 0), that line is too long: see
 * record-blocks.ts.
 */
export const createSplitter = (dialect: Dialect, fields: number): Splitter => {
  const grammar = grammarOf(dialect, fields);
  const rule = ruleOf(grammar);
  const list = createRecordList();
  return (block, atEnd) => splitBlock(block, atEnd, grammar, rule, list);
};
