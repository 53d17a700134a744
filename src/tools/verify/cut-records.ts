// The bytes of a file without records that the bookkeeping says were rejected for their bytes: csv-parse would stop at them.

import { CR, LF } from '../../core/characters.ts';

/** A record: its first byte, and how many lines it has. */
export interface Cut {
  readonly byte: number;
  readonly lines: number;
}

/** The place after so many line ends; -1: there are fewer. */
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
 * The bytes without the records, which come in the order of the file. `start`: place of the first byte in the file; `counted` is
 * called for each record that is left out.
 */
export async function* withoutRecords(
  bytes: AsyncIterable<Buffer>,
  start: number,
  cuts: AsyncIterator<Cut>,
  newline: number,
  counted: () => void,
): AsyncGenerator<Buffer, void> {
  let next = await cuts.next();
  let [place, left, mayHoldFeed] = [start, 0, false];
  for await (const block of bytes) {
    const end = place + block.length;
    let from = 0;
    for (;;) {
      if (left > 0) ({ at: from, left } = afterLines(block, from, left, newline));
      if (left > 0) break;
      // The line feed of a carriage return that ended the record.
      if (mayHoldFeed && newline === CR && from < block.length && block[from] === LF) from += 1;
      if (from < block.length) mayHoldFeed = false;
      if (next.done === true || next.value.byte >= end) break;
      const at = next.value.byte - place;
      if (at > from) yield block.subarray(from, at);
      from = Math.max(from, at);
      left = next.value.lines;
      mayHoldFeed = true;
      counted();
      next = await cuts.next();
    }
    if (left === 0 && from < block.length) yield block.subarray(from);
    place = end;
  }
}
