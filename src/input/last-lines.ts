// Leaves out the last lines of a file, which are not records (`skipEnd`).

import { CR, LF } from '../core/characters.ts';
import type { LineEnd } from '../core/declaration.ts';
import { recordBytesMax } from '../core/limits.ts';

const afterLineEnd = (bytes: Buffer, end: number, lineEnd: LineEnd): number => {
  let at = end;
  do {
    if (at === 0) return 0;
    at = bytes.lastIndexOf(lineEnd === 'cr' ? CR : LF, at - 1);
  } while (lineEnd === 'crlf' && at > 0 && bytes[at - 1] !== CR);
  if (at === -1 || (lineEnd === 'crlf' && at === 0)) return 0;
  return lineEnd === 'cr' && bytes[at + 1] === LF ? at + 2 : at + 1;
};

const withoutLineEnd = (bytes: Buffer, lineEnd: LineEnd): number => {
  const end = bytes.length;
  const endsWithLf = bytes[end - 1] === LF;
  if (lineEnd === 'lf') return endsWithLf ? end - 1 : end;
  const hasCr = bytes[end - (endsWithLf ? 2 : 1)] === CR;
  if (!hasCr || (lineEnd === 'crlf' && !endsWithLf)) return end;
  return end - (endsWithLf ? 2 : 1);
};

export const isLineEnd = (byte: number | undefined): boolean => byte === LF || byte === CR;

/** Yields all bytes, and fails at the end if the last byte ends no line. */
export async function* toLineEnd(
  reads: AsyncIterable<Buffer>,
  fail: () => Error,
): AsyncGenerator<Buffer, void> {
  let last: number | undefined = LF;
  for await (const read of reads) {
    last = read.at(-1) ?? last;
    yield read;
  }
  if (!isLineEnd(last)) throw fail();
}

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

/** missing: the file has fewer lines · long: the last lines are longer than records may be. */
export type TrailerProblem = 'missing' | 'long';

/** Yields all but the last `lines` lines of a file. Memory: a block and the last lines. */
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
