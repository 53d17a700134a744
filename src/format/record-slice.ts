// Cuts a block of records into blocks of fewer records.

import type { RecordBlock } from './record-blocks.ts';
import type { RecordSpans } from './splitter.ts';

/** Faults of the records [from, to), counted from `from`. */
const faultsBetween = (faults: RecordSpans['faults'], from: number, to: number): RecordSpans['faults'] => {
  const own: RecordSpans['faults'] = new Map();
  // Whichever is less: a block may have a fault in each of half a million records, and be cut fifty times.
  if (to - from < faults.size) {
    for (let index = from; index < to; index += 1) {
      const fault = faults.get(index);
      if (fault !== undefined) own.set(index - from, fault);
    }
  } else for (const [index, fault] of faults) if (index >= from && index < to) own.set(index - from, fault);
  return own;
};

/** The records [from, to) of a block as a block of their own. What stands before the first of them is left out. */
export const sliceBlock = (block: RecordBlock, from: number, to: number): RecordBlock => {
  const { bytes, spans, position } = block;
  const firstByte = spans.starts[from]!;
  const firstLine = spans.lines[from]!;
  const isLast = to === spans.starts.length;
  const lastByte = isLast ? bytes.length : spans.starts[to]!;
  return {
    bytes: bytes.subarray(firstByte, lastByte),
    position: {
      byte: position.byte + firstByte,
      line: position.line + firstLine,
      record: position.record + from,
    },
    fileBytes: lastByte - firstByte,
    spans: {
      starts: spans.starts.slice(from, to).map((start) => start - firstByte),
      ends: spans.ends.slice(from, to).map((end) => end - firstByte),
      lines: spans.lines.slice(from, to).map((line) => line - firstLine),
      faults: faultsBetween(spans.faults, from, to),
      consumed: lastByte - firstByte,
      newlines: (isLast ? spans.newlines : spans.lines[to]!) - firstLine,
      plain: spans.plain && to - from > 0,
    },
  };
};

/** A block in pieces of at most so many records; nearly always it is one. */
export function* piecesOf(block: RecordBlock, recordsMax: number): Generator<RecordBlock, void> {
  const records = block.spans.starts.length;
  if (records <= recordsMax) yield block;
  else
    for (let from = 0; from < records; from += recordsMax)
      yield sliceBlock(block, from, Math.min(from + recordsMax, records));
}
