// Cuts a block of records into smaller blocks.

import type { RecordBlock } from './record-blocks.ts';
import type { RecordSpans } from './splitter.ts';

const faultsBetween = (faults: RecordSpans['faults'], from: number, to: number): RecordSpans['faults'] => {
  const own: RecordSpans['faults'] = new Map();
  // Takes the shorter loop: a block may have half a million faults, and be cut fifty times.
  if (to - from < faults.size) {
    for (let index = from; index < to; index += 1) {
      const fault = faults.get(index);
      if (fault !== undefined) own.set(index - from, fault);
    }
  } else for (const [index, fault] of faults) if (index >= from && index < to) own.set(index - from, fault);
  return own;
};

export const sliceBlock = (block: RecordBlock, from: number, to: number): RecordBlock => {
  const { bytes, spans, position } = block;
  const firstByte = spans.starts[from]!;
  const firstLine = spans.lines[from]!;
  const isLast = to === spans.starts.length;
  const faults = faultsBetween(spans.faults, from, to);
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
      faults,
      consumed: lastByte - firstByte,
      newlines: (isLast ? spans.newlines : spans.lines[to]!) - firstLine,
      newline: spans.newline,
      plain: spans.plain && to - from > 0 && faults.size === 0,
    },
  };
};

/** Cuts a block into pieces. A record longer than `bytesMax` is a piece by itself. */
export function* piecesOf(
  block: RecordBlock,
  recordsMax: number,
  bytesMax: number,
): Generator<RecordBlock, void> {
  const { starts, ends } = block.spans;
  const records = starts.length;
  if (records <= 1 || (records <= recordsMax && block.bytes.length <= bytesMax)) {
    yield block;
    return;
  }
  for (let from = 0, to = 1; from < records; from = to, to += 1) {
    while (to < records && to - from < recordsMax && ends[to]! - starts[from]! <= bytesMax) to += 1;
    yield sliceBlock(block, from, to);
  }
}
