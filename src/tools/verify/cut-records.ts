// Cuts records that were rejected for their bytes out of a file, because csv-parse would fail at
// them.

import { CR, LF } from '../../core/characters.ts';

/** A record to cut out: its first byte in the file, and its number of lines. */
export interface Cut {
  readonly byte: number;
  readonly lines: number;
}

/** Returns the index after `lines` line ends, and how many line ends the block lacks (`left`). */
const afterLines = (
  block: Buffer,
  from: number,
  lines: number,
  newline: number,
): { at: number; left: number } => {
  let [at, left] = [from, lines];
  while (left > 0) {
    const end = block.indexOf(newline, at);
    if (end === -1) return { at: block.length, left };
    at = end + 1;
    left -= 1;
  }
  return { at, left };
};

/**
 * Yields the bytes without the given records.
 *
 * @param start position of the first byte in the file.
 * @param cuts the records to cut out, in the order of the file.
 * @param counted is called for each record that is cut out.
 */
export async function* withoutRecords(
  bytes: AsyncIterable<Buffer>,
  start: number,
  cuts: AsyncIterator<Cut>,
  newline: number,
  counted: () => void,
): AsyncGenerator<Buffer, void> {
  let next = await cuts.next();
  let [position, left, mayHoldFeed] = [start, 0, false];
  for await (const block of bytes) {
    const end = position + block.length;
    let from = 0;
    for (;;) {
      if (left > 0) ({ at: from, left } = afterLines(block, from, left, newline));
      if (left > 0) break;
      // A file with CR line ends may have a CR LF after a record. The LF belongs to that record.
      if (mayHoldFeed && newline === CR && from < block.length && block[from] === LF) from += 1;
      if (from < block.length) mayHoldFeed = false;
      if (next.done === true || next.value.byte >= end) break;
      const at = next.value.byte - position;
      if (at > from) yield block.subarray(from, at);
      from = Math.max(from, at);
      left = next.value.lines;
      mayHoldFeed = true;
      counted();
      next = await cuts.next();
    }
    if (left === 0 && from < block.length) yield block.subarray(from);
    position = end;
  }
}
