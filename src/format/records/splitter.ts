// Finds where records begin and end, without parsing fields. A quote opens a field only at the
// field's start (RFC 4180 §2). A quote elsewhere does not hide line ends, so that it rejects one
// record and not the rest of the file.

import { BACKSLASH, CR, LF } from '../../core/characters.ts';
import type { Dialect, LineEnd } from '../../core/declaration.ts';
import type { RejectCode } from '../../core/model.ts';
import {
  countLines,
  grammarOf,
  isBlankByte,
  lineAt,
  mayHoldComment,
  startsWith,
  takesHalfLineEnds,
  type Grammar,
  type LineSpan,
} from './grammar.ts';
import { recordAt, type Lost, type RecordEnd } from './record-end.ts';
import {
  addRecord,
  createRecordList,
  createRecordPass,
  type QuoteRule,
  type RecordList,
} from './record-pass.ts';

export interface RecordSpans {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly lines: Int32Array;
  /**
   * Records to reject without parsing, by index. null is not a fault: the record has quotes that
   * only `quotes: 'lenient'` allows.
   */
  readonly faults: Map<number, RejectCode | null>;
  /** Bytes of whole records, and of the blank lines and comments between them. */
  readonly consumed: number;
  /** Number of line ends in the consumed bytes. `newline` is the byte that counts as line end. */
  readonly newlines: number;
  readonly newline: number;
  /** True if the consumed bytes are only records without faults, each followed by one LF. */
  readonly plain: boolean;
}

export interface Splitter {
  /** `atEnd`: no bytes follow, so the rest is a record. */
  readonly split: (block: Buffer, atEnd: boolean) => RecordSpans;
  readonly firstLine: (block: Buffer, atEnd: boolean) => LineSpan | undefined;
  readonly isComment: (block: Buffer) => boolean;
  readonly newline: number;
}

const isPlain = (block: Buffer, { end, next, fault }: RecordEnd): boolean =>
  fault === undefined && next === end + 1 && block[end] === LF;

const ruleOf = ({ delimiter, quote, escape, keepEmpty }: Grammar): QuoteRule => ({
  quote,
  delimiter: delimiter.length === 1 && escape === quote ? delimiter[0]! : -1,
  keepEmpty,
});

const isEscaped = (block: Buffer, start: number, at: number): boolean => {
  let first = at;
  while (first > start && block[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
};

/** Drops several CRs before an LF, which programs write that translate line ends twice. */
const withoutReturns = (block: Buffer, start: number, { end, next }: RecordEnd, grammar: Grammar): number => {
  let last = end;
  const isAtEnd = end === next || block[end] === CR || block[end] === LF;
  const isEnded = isAtEnd && (block[next - 1] === LF || takesHalfLineEnds(grammar));
  if (grammar.lineEnd === 'lf' && isEnded) while (last > start && block[last - 1] === CR) last -= 1;
  return grammar.escapesAll && block[last] === CR && isEscaped(block, start, last) ? last + 1 : last;
};

const isBlankLine = (block: Buffer, from: number, to: number, { delimiter }: Grammar): boolean => {
  for (let at = from; at < to; at += 1) if (!isBlankByte(block[at])) return false;
  return !block.subarray(from, to).includes(delimiter);
};

const dropBlankLines = (block: Buffer, list: RecordList, from: number, grammar: Grammar): void => {
  const { starts, length } = list;
  let kept = from;
  while (kept < length && !isBlankByte(block[starts[kept]!])) kept += 1;
  for (let index = kept; index < length; index += 1) {
    const [start, end] = [list.starts[index]!, list.ends[index]!];
    if (isBlankByte(block[start]) && isBlankLine(block, start, end, grammar)) continue;
    list.starts[kept] = start;
    list.ends[kept] = end;
    list.lines[kept] = list.lines[index]!;
    kept += 1;
  }
  if (kept < list.length) list.plain = false;
  list.length = kept;
};

/** True if a backslash escapes a line end, delimiter or quote, unseen by the fast scan. */
const escapesStructure = (block: Buffer, { escapesAll, quote, delimiter }: Grammar): boolean =>
  escapesAll &&
  block.includes(BACKSLASH) &&
  [LF, CR, quote, delimiter[0]!].some((byte) => byte !== -1 && block.includes(Buffer.of(BACKSLASH, byte)));

const splitBlock = (
  block: Buffer,
  atEnd: boolean,
  grammar: Grammar,
  rule: QuoteRule,
  list: RecordList,
): RecordSpans => {
  const { comment, keepEmpty, newline, lineEnd } = grammar;
  const faults: RecordSpans['faults'] = new Map();
  const lost: Lost = { walk: undefined };
  const mayBeRegular =
    lineEnd === 'lf' && !mayHoldComment(block, grammar) && !escapesStructure(block, grammar);
  const takeRegular = mayBeRegular ? createRecordPass(block, list, rule) : undefined;
  const dropsBlank = grammar.trim && !keepEmpty;
  const cursor = { at: 0, line: 0 };
  list.length = 0;
  list.plain = true;
  while (cursor.at < block.length) {
    const before = list.length;
    takeRegular?.(cursor);
    if (dropsBlank) dropBlankLines(block, list, before, grammar);
    const { at, line } = cursor;
    if (at === block.length) break;
    const isComment = comment !== undefined && startsWith(block, at, comment);
    const found: RecordEnd | undefined = isComment
      ? lineAt(block, at, atEnd, grammar)
      : recordAt(block, at, atEnd, grammar, lost);
    if (found === undefined) break;
    const end = withoutReturns(block, at, found, grammar);
    const isBlank = dropsBlank ? isBlankLine(block, at, end, grammar) : end === at && !keepEmpty;
    const isRecord = !isComment && !isBlank;
    if (isRecord && found.fault !== undefined) faults.set(list.length, found.fault);
    if (isRecord) addRecord(list, at, end, line);
    if (!isRecord || !isPlain(block, found)) list.plain = false;
    cursor.at = found.next;
    cursor.line += countLines(block, at, found.next, newline);
  }
  return {
    starts: list.starts.slice(0, list.length),
    ends: list.ends.slice(0, list.length),
    lines: list.lines.slice(0, list.length),
    faults,
    consumed: cursor.at,
    newlines: cursor.line,
    newline,
    plain: list.plain,
  };
};

/**
 * Splits blocks into whole records; the caller passes the rest again with more bytes. If a block of
 * more than `recordBytesMax` + 1 bytes has no whole record (`consumed` is 0), its first line is a
 * comment or too long.
 */
export const createSplitter = (dialect: Dialect, fields: number, lineEnd: LineEnd): Splitter => {
  const grammar = grammarOf(dialect, fields, lineEnd);
  const { comment, newline } = grammar;
  const rule = ruleOf(grammar);
  const list = createRecordList();
  return {
    split: (block, atEnd) => splitBlock(block, atEnd, grammar, rule, list),
    firstLine: (block, atEnd) => lineAt(block, 0, atEnd, grammar),
    isComment: (block) => comment !== undefined && startsWith(block, 0, comment),
    newline,
  };
};
