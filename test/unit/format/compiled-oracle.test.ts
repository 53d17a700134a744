// The compiled decoder against the record decoder on whatever bytes: the same counts and the same rejects, however the
// bytes are cut. That the rows are the same, too, is shown on the server by test/integration/compiled.test.ts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../src/copy/encode-text.ts';
import { compiledObstacle, createCompiledDecoder } from '../../../src/format/compiled/compiled-decoder.ts';
import type { Decoder } from '../../../src/format/decoder.ts';
import { createRecordDecoder } from '../../../src/format/record-decoder.ts';
import { createSplitter } from '../../../src/format/splitter.ts';
import { column } from '../../../src/pipeline/column.ts';
import { oneOf, present } from '../../../src/pipeline/filter.ts';
import { blocksOf, cutAt, tableOf } from './reading.ts';

const header = ['a', 'b', 'c', 'd'];
const columns = {
  a: column.integer('a'),
  glued: column.timestamp(['b', 'c'], { format: 'YYYYMMDDHHmm' }).nullable(),
  c: column.varchar('c', { length: 4 }).nullable(),
  d: column.boolean('d', { true: ['s'] }).default(false),
};

const fields = fc.oneof(
  fc.constantFrom(
    '1',
    '-7',
    '2147483648',
    '',
    'M',
    ' 5 ',
    '20110101',
    '20110230',
    '0053',
    'abcde',
    's',
    'x',
    '1.0',
  ),
  fc.constantFrom('"q"', '"q,r"', '"a""b"', '"open', 'st"ray', '"two\nlines"', 'é', '\u00a0', '\0'),
  fc.string({ maxLength: 5 }),
);
const lines = fc.array(fields, { minLength: 1, maxLength: 6 }).map((line) => line.join(','));
const files = fc
  .tuple(fc.array(lines, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean(), fc.boolean())
  .map(([records, newline, ends, broken]) => {
    const bytes = Buffer.from(records.join(newline) + (ends ? newline : ''));
    if (broken && bytes.length > 3) bytes[bytes.length >> 1] = 0xff;
    return bytes;
  });

const dialects = [
  { trim: true, nulls: ['', 'M'] },
  { trim: false, nulls: [''] },
  { quote: null, trim: true, nulls: ['', 'M'] },
  { ragged: 'pad' as const },
];

describe('compiled and record decoder', () => {
  it.each(
    dialects.flatMap((options) => [
      { options, filter: [] },
      { options, filter: [present('a'), oneOf('d', ['s', 'x'])] },
    ]),
  )('$options with $filter.length filters', async ({ options, filter }) => {
    const table = tableOf(options, { columns, filter });
    expect(compiledObstacle(table)).toBeUndefined();
    const split = createSplitter(table.source.dialect, header.length);
    await fc.assert(
      fc.asyncProperty(files, fc.nat(80), async (file, place) => {
        const blocks = await blocksOf(cutAt(file, Math.min(place, file.length)), split);
        const outcome = (decoder: Decoder): unknown =>
          blocks.map(decoder).map(({ counts, rejects }) => ({ counts, rejects }));
        expect(outcome(createCompiledDecoder(table, header, 'f'))).toEqual(
          outcome(createRecordDecoder(table, header, 'f', encodeTextRow)),
        );
      }),
      { numRuns: 400 },
    );
  });
});

describe('compiledObstacle', () => {
  it.each([
    [{}, { a: column.text('a') }, undefined],
    [{ delimiter: '||' }, { a: column.text('a') }, 'its delimiter is more than one byte'],
    [{ escape: '\\' }, { a: column.text('a') }, 'its escape is not its quote'],
    [{ comment: '#' }, { a: column.text('a') }, 'it has comments'],
    [{}, { a: column.of('inet', 'a') }, 'column a is of type inet'],
    [{}, { a: column.text('a').map((text) => text) }, 'column a has a function'],
    [{}, { a: column.text('a').check(() => true, 'no') }, 'column a has a function'],
  ] as const)('%j: %s', (options, declared, expected) => {
    expect(compiledObstacle(tableOf(options, { columns: declared }))).toBe(expected);
  });
});
