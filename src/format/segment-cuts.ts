// Where a file may be cut into pieces that load side by side: at records, found by the splitter itself.

import type { Position } from '../model.ts';
import { recordBlocks, type RecordBlock } from './record-blocks.ts';
import type { Splitter } from './splitter.ts';

/** Place of a block's first record that begins at or after a byte of the file; undefined when none does. */
const recordFrom = ({ spans: { starts }, position }: RecordBlock, byte: number): number | undefined => {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (position.byte + starts[middle]! < byte) low = middle + 1;
    else high = middle;
  }
  return low < starts.length ? low : undefined;
};

/**
 * Yields record starts that are at least `segmentBytes` apart from `start` and from each other, in order. Both sides of a
 * cut read the same records as the whole would be read. Memory: one read and one record.
 */
export async function* segmentCuts(
  reads: AsyncIterable<Buffer>,
  start: Position,
  split: Splitter,
  segmentBytes: number,
): AsyncGenerator<Position, void> {
  let cut = start;
  for await (const block of recordBlocks(reads, start, split)) {
    const { spans, position } = block;
    for (;;) {
      const index = recordFrom(block, cut.byte + segmentBytes);
      if (index === undefined) break;
      cut = {
        byte: position.byte + spans.starts[index]!,
        line: position.line + spans.lines[index]!,
        record: position.record + index,
      };
      yield cut;
    }
  }
}
