// Finds where a file may be cut into segments, ahead of the loaders that load them side by side.

import type { Position } from '../../core/model.ts';
import { recordBlocks } from './record-blocks.ts';
import type { Splitter } from './splitter.ts';

/**
 * Yields positions at which a file may be cut, each at least `segmentBytes` after the one before it and after `start`:
 * where a record, or a blank line before one, begins. The file's end is none. Memory: as `recordBlocks`.
 *
 * A cut is known once the read after it has arrived. Segments give the same records and rejects as the whole file
 * (test/unit/format/split/segment-cuts.test.ts).
 */
export async function* segmentCuts(
  reads: AsyncIterable<Buffer>,
  start: Position,
  split: Splitter,
  segmentBytes: number,
): AsyncGenerator<Position, void> {
  let from = start;
  for await (const { position } of recordBlocks(reads, start, split)) {
    if (position.byte - from.byte < segmentBytes) continue;
    from = position;
    yield position;
  }
}
