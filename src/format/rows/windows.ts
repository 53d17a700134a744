// Groups a block's records for the row routine, and separates those for the judge.

import type { RecordBlock } from '../split/record-blocks.ts';
import type { RecordSpans } from '../split/splitter.ts';
import { isStorable } from '../records/raw-text.ts';
import { recordBytes } from '../records/record-parser.ts';
import { BACKSLASH } from '../split/grammar.ts';
import { windowBytes } from '../encoder/memory.ts';

/** Records [from, to) of a block. */
export interface Window {
  readonly from: number;
  readonly to: number;
  /** False: they are for the judge. */
  readonly isFit: boolean;
}

/** CRLF. */
const newlineBytesMax = 2;

/** Tells of one record after the other whether it holds a byte; -1: none does. */
const holds = (
  { bytes, spans: { starts, ends } }: RecordBlock,
  byte: number,
): ((index: number) => boolean) => {
  let at = byte === -1 ? -1 : bytes.indexOf(byte);
  return (index) => {
    if (at !== -1 && at < starts[index]!) at = bytes.indexOf(byte, starts[index]);
    return at !== -1 && at < ends[index]!;
  };
};

/** `\N`. */
const LETTER_N = 78;

/**
 * Tells of one record after the other whether a backslash escapes in it. `\N` as a whole field between these delimiters does not: it
 * is a text that means null.
 */
const holdsBackslash = (
  { bytes, spans: { starts, ends } }: RecordBlock,
  delimiter: number,
): ((index: number) => boolean) => {
  let next = bytes.indexOf(BACKSLASH);
  return (index) => {
    const [start, end] = [starts[index]!, ends[index]!];
    if (next !== -1 && next < start) next = bytes.indexOf(BACKSLASH, start);
    let at = next;
    for (; at !== -1 && at < end; at = bytes.indexOf(BACKSLASH, at + 2)) {
      const isFirst = at === start || bytes[at - 1] === delimiter;
      const isLast = at + 2 === end || bytes[at + 2] === delimiter;
      if (!isFirst || !isLast || bytes[at + 1] !== LETTER_N) return true;
    }
    next = at;
    return false;
  };
};

/** The record at which a window ends that begins with record `from`; `isFit` is undefined when each record is. */
const windowEnd = (
  { starts, ends }: RecordSpans,
  from: number,
  isFit: ((index: number) => boolean) | undefined,
): number => {
  // Fewer bytes than fit: the lists hold as many records, and each but the last has its newline.
  const longEnd = starts[from]! + windowBytes;
  let to = from;
  while (to < starts.length && ends[to]! < longEnd && (isFit === undefined || isFit(to))) {
    to += 1;
    // A comment before the next record may hold meaningless quotes.
    if (to < starts.length && starts[to]! - ends[to - 1]! > newlineBytesMax) break;
  }
  return to;
};

/**
 * Yields the records of a block in order. Those that are fit are without a fault and without a byte that escapes, of whole
 * characters, one after the other, and not too many. `nulls`: the delimiter, if `\N` between two of them is fit.
 */
export function* windowsOf(block: RecordBlock, escape: number, nulls?: number): Generator<Window, void> {
  const { bytes, spans } = block;
  const { faults } = spans;
  const records = spans.starts.length;
  const isAllText = isStorable(bytes);
  const isEachFit = isAllText && faults.size === 0 && (escape === -1 || !bytes.includes(escape));
  const hasEscape = nulls === undefined ? holds(block, escape) : holdsBackslash(block, nulls);
  const isFit = (index: number): boolean =>
    !faults.has(index) && !hasEscape(index) && (isAllText || isStorable(recordBytes(block, index)));
  for (let from = 0; from < records;) {
    let to = windowEnd(spans, from, isEachFit ? undefined : isFit);
    const isForRoutine = to > from;
    // Records with escapes follow each other, and are cheaper together.
    if (!isForRoutine)
      do to += 1;
      while (to < records && hasEscape(to));
    yield { from, to, isFit: isForRoutine };
    from = to;
  }
}
