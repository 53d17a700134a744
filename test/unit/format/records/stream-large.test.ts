// Streams of large random files come to the same as the record decoder, in chunks that reads, bytes
// and rejects end anywhere.

import { expect, it } from 'vitest';
import { addCounts, noCounts } from '../../../../src/core/counts.ts';
import type { Reject } from '../../../../src/core/model.ts';
import { positionAfter } from '../../../../src/format/records/record-blocks.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { binaryRecordDecoder, outcomeOf, streamedOutcome } from './both-decoders.ts';
import { blocksIn, decodedFile, startOfFile, tableOf } from './reading.ts';

type Draw = (below: number) => number;
const drawOf = (seed: number): Draw => {
  let state = Math.imul(seed, 7919);
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};
const pick = <T>(draw: Draw, list: readonly T[]): T => list[draw(list.length)]!;

const dialects = [
  {},
  { trim: true, nulls: ['', 'M'] },
  { trim: 'outside', nulls: ['', 'M'] },
  { quote: null, escapes: 'any' },
  { escapes: 'any' },
  { ragged: 'cut' },
  { ragged: 'pad', trim: true },
  { comment: '#' },
  { comment: '#', trim: true },
  { quotedNulls: false, nulls: ['', 'M'] },
  { quotes: 'lenient' },
  { escape: '\\' },
  { lineEnd: 'lf' },
];
const header = ['a', 'b', 'c', 'd'];
const columns = {
  a: column.integer('a').nullable(),
  b: column.text('b').nullable(),
  c: column.varchar('c', { length: 40 }).nullable(),
  d: column.double('d').nullable(),
  mapped: column
    .text('d')
    .map((text: string) => text + 'é'.repeat(Number(text) % 7 === 0 ? 3_000 : 1))
    .nullable(),
  joined: column.text(['a', 'c'], { separator: '/' }).nullable(),
};
const odd = ['"open', 'st"ray', '"a" b', ' "x" ', '\\"', 'a\\,b', '\\N', '\0', '\r', '\\\n', 'x\ry'];
const usual = [
  '',
  'M',
  ' 5 ',
  '""',
  '"M"',
  '"q,r"',
  '"a""b"',
  '"two\nlines"',
  '"a\r\nb"',
  '"é\n#"',
  '""""',
  'é€𝄞',
  '7',
];
const field = (draw: Draw, dirt: number): string => {
  if (draw(1_000) < dirt) return pick(draw, odd);
  if (draw(6_000) > 0)
    return pick(draw, usual)
      .padEnd(draw(2) * draw(30), 'x')
      .replace(/^(".*")x+$/s, '$1');
  const size = pick(draw, [9_000, 33_000, 66_000, 100_000]) + draw(999);
  return draw(2) ? 'z'.repeat(size) : `"${'w,\n""'.repeat(size / 5)}"`;
};
const fileOf = (draw: Draw, size: number): Buffer => {
  const [dirt, newline, parts] = [pick(draw, [0, 1, 30]), pick(draw, ['\n', '\r\n']), [] as string[]];
  for (let length = 0; length < size; length += parts.at(-1)!.length) {
    const [b, c] = [field(draw, dirt), field(draw, dirt)];
    const before = draw(100) ? '' : pick(draw, ['\n', '  \n', '#,"c\n', '\r\n', '# x\n']);
    parts.push(`${before}${draw(9_999)},${b},${c},${draw(9_999) / 8}${draw(200) ? '' : ',e'}${newline}`);
  }
  const bytes = Buffer.from(parts.join('') + pick(draw, ['', '1,2,3,4', '1,"open', '\r']));
  for (let count = draw(2) * draw(6); count > 0; count -= 1)
    bytes[draw(bytes.length)] = pick(draw, [0xff, 0xc3, 0xe2, 0xf0, 0x80, 0, 34, 13, 10, 44, 92]);
  return bytes;
};
function* readsOf(draw: Draw, bytes: Buffer): Generator<Buffer, void> {
  const most = pick(draw, [70_000, 400_000, 1_048_576]);
  for (let at = 0, to = 0; at < bytes.length; at = to)
    yield Buffer.from(bytes.subarray(at, (to = at + (draw(4) ? most : 1 + draw(most)))));
}

it.each(dialects.map((_, seed) => seed))('file %i', async (seed) => {
  const draw = drawOf(seed + 1);
  const table = tableOf(dialects[seed % dialects.length] as never, { columns });
  const [bytes, file] = [fileOf(draw, pick(draw, [60_000, 200_000, 400_000])), decodedFile(header)];
  const blocks = await blocksIn(table, [bytes], header.length);
  const expected = outcomeOf(blocks, binaryRecordDecoder(table, file));
  const last = { bytes: 40_000 + draw(400_000), rejects: draw(2) ? Infinity : 500 + draw(9) };
  const rejects: Reject[] = [];
  let [at, rows, counts] = [startOfFile, '', noCounts];
  while (at.byte < bytes.length) {
    const chunk = (await streamedOutcome(
      readsOf(draw, bytes.subarray(at.byte)),
      at,
      table,
      file,
      undefined,
      last,
    ))!;
    expect(chunk.end.byte).toBeGreaterThan(at.byte);
    [at, rows, counts] = [chunk.end, rows + chunk.rows, addCounts(counts, chunk.counts)];
    rejects.push(...chunk.rejects);
  }
  expect({ counts, rejects, at }).toEqual({
    counts: expected.counts,
    rejects: expected.rejects,
    at: positionAfter(blocks.at(-1)!),
  });
  expect(rows === expected.rows).toBe(true);
});

it.each([3_000, 8_000, 20_000])(
  'a function that makes texts of %i characters spoils nothing',
  async (size) => {
    const longer = (text: string): string => text.padEnd(size, 'x');
    const table = tableOf(
      {},
      { columns: { a: column.integer('a'), b: column.text('b').map(longer), again: column.text('b') } },
    );
    const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, n) => `${n},t${n}\n`).join(''));
    const file = decodedFile(['a', 'b']);
    const streamed = await streamedOutcome([bytes], startOfFile, table, file);
    const expected = outcomeOf(await blocksIn(table, [bytes]), binaryRecordDecoder(table, file));
    expect(streamed!.counts).toEqual(expected.counts);
    expect(streamed!.rows === expected.rows).toBe(true);
  },
);

it('ends after the last reject that it may have, also if a comment is before it', async () => {
  const table = tableOf({ comment: '#' }, { columns: { a: column.integer('a') } });
  const bytes = Buffer.from('#c\nx,1\ny,2\n3,4\n');
  const last = { bytes: Infinity, rejects: 1 };
  const file = decodedFile(['a', 'b']);
  const first = await streamedOutcome([bytes], startOfFile, table, file, undefined, last);
  expect(first!.end).toEqual({ byte: 7, line: 3, record: 2 });
});
