// The trailer lines at the end of a file, which are not records: where they begin, and a stream without them.

import { CR, LF } from '../core/characters.ts';
import type { LineEnd } from '../core/declaration/declaration.ts';
import { recordBytesMax } from '../core/limits.ts';

/** The byte after the last line end in [0, end); 0 when there is none. */
const afterLineEnd = (bytes: Buffer, end: number, lineEnd: LineEnd): number => {
  let at = end;
  do {
    if (at === 0) return 0;
    at = bytes.lastIndexOf(lineEnd === 'cr' ? CR : LF, at - 1);
  } while (lineEnd === 'crlf' && at > 0 && bytes[at - 1] !== CR);
  if (at === -1 || (lineEnd === 'crlf' && at === 0)) return 0;
  return lineEnd === 'cr' && bytes[at + 1] === LF ? at + 2 : at + 1;
};

/** The end of the last line, without its line end. */
const withoutLineEnd = (bytes: Buffer, lineEnd: LineEnd): number => {
  const end = bytes.length;
  const isFed = bytes[end - 1] === LF;
  if (lineEnd === 'lf') return isFed ? end - 1 : end;
  const isReturned = bytes[end - (isFed ? 2 : 1)] === CR;
  if (!isReturned || (lineEnd === 'crlf' && !isFed)) return end;
  return end - (isFed ? 2 : 1);
};

/** Where the last lines of some bytes begin, and how many are missing. The last one needs no line end. */
export const lastLinesStart = (
  bytes: Buffer,
  lines: number,
  lineEnd: LineEnd,
): { readonly start: number; readonly missing: number } => {
  if (bytes.length === 0) return { start: 0, missing: lines };
  let start = afterLineEnd(bytes, withoutLineEnd(bytes, lineEnd), lineEnd);
  let left = lines - 1;
  for (; left > 0 && start > 0; left -= 1) {
    const end = withoutLineEnd(bytes.subarray(0, start), lineEnd);
    start = afterLineEnd(bytes, end, lineEnd);
  }
  return { start, missing: left };
};

/** Why a file has no such last lines. */
export type TrailerProblem = 'missing' | 'long';

/**
 * The bytes of a file from a line's beginning on, without its last lines: they are held until the end is seen. What it gives has
 * memory of its own, because several reads may pass before the next block. Memory: a block, and the lines.
 */
export async function* withoutLastLines(
  reads: AsyncIterable<Buffer>,
  lines: number,
  lineEnd: LineEnd,
  fail: (problem: TrailerProblem) => Error,
): AsyncGenerator<Buffer, void> {
  let held: Buffer = Buffer.alloc(0);
  let missing = lines;
  for await (const read of reads) {
    const bytes = Buffer.concat([held, read]);
    const last = lastLinesStart(bytes, lines, lineEnd);
    missing = last.missing;
    held = bytes.subarray(last.start);
    if (held.length > (lines + 1) * recordBytesMax) throw fail('long');
    if (last.start > 0) yield bytes.subarray(0, last.start);
  }
  if (missing > 0) throw fail('missing');
}
