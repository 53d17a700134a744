// Divides a block's records into windows for WebAssembly, and records for JavaScript.

import type { RecordBlock } from '../records/record-blocks.ts';
import type { RecordSpans } from '../records/splitter.ts';
import { isStorable } from '../records/raw-text.ts';
import { recordBytes } from '../records/record-parser.ts';
import { BACKSLASH } from '../../core/characters.ts';
import { windowBytes } from '../assembly/memory.ts';

interface Window {
  readonly from: number;
  readonly to: number;
  readonly isFit: boolean;
}

const newlineBytesMax = 2;

/** Tests if a record has `byte` (-1: none). Must be called with increasing indexes. */
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

const LETTER_N = 78;

/** Like `holds` for a backslash, but a field `\N` does not count, because it just means null. */
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

const windowEnd = (
  { starts, ends }: RecordSpans,
  from: number,
  isFit: ((index: number) => boolean) | undefined,
): number => {
  // Less than windowBytes, so that the lists have room for all records.
  const longEnd = starts[from]! + windowBytes;
  let to = from;
  while (to < starts.length && ends[to]! < longEnd && (isFit === undefined || isFit(to))) {
    to += 1;
    // A comment before the next record may contain quotes, which would confuse the routine.
    if (to < starts.length && starts[to]! - ends[to - 1]! > newlineBytesMax) break;
  }
  return to;
};

/**
 * Yields ranges of fit and other records. Fit records have no fault, no escape and valid UTF-8,
 * follow each other directly, and fill at most 64 KiB. `nulls` is the delimiter if `\N` is fit.
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
    // Records with escapes often follow each other. Parsing them together is cheaper.
    if (!isForRoutine)
      do to += 1;
      while (to < records && hasEscape(to));
    yield { from, to, isFit: isForRoutine };
    from = to;
  }
}
