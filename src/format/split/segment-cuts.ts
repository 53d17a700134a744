// Finds where a file may be cut into segments, which are loaded side by side.

import type { Position } from '../../core/model.ts';
import { recordBlocks } from './record-blocks.ts';
import type { Splitter } from './splitter.ts';

/**
 * Yields positions at which a file may be cut: starts of records, or of blank lines before them.
 * Each is at least `segmentBytes` after the previous one and after `start`. The file's end is not
 * yielded. Memory as in `recordBlocks`.
 * A cut is yielded after the read that follows it. Segments give the same records and rejects as
 * the whole file (test/unit/format/split/segment-cuts.test.ts).
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
