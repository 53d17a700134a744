// Compares both decoders with a model of the dialect on random text: same rows, and rejects at the
// same positions, with the text whole and cut.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { recordBytesMax } from '../../../../src/core/limits.ts';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { searched } from '../../../helpers/seeded.ts';
import { modelRecords, type ModelDialect } from './dialect-model.ts';
import { readEverywhere } from './both-decoders.ts';
import { cutAt, splitPieces, splitterOf, tableOf } from './reading.ts';

const columns = {
  a: column.text('a').nullable(),
  b: column.text('b').nullable(),
  c: column.text('c').nullable(),
};
const header = Object.keys(columns);

const dialects: fc.Arbitrary<ModelDialect> = fc
  .record({
    quotes: fc.constantFrom('strict' as const, 'lenient' as const),
    escape: fc.constantFrom('"' as const, '"' as const, '\\' as const),
    trim: fc.constantFrom(false, false, true, 'outside' as const),
    nulls: fc.constantFrom([''], ['', 'NA'], []),
    quotedNulls: fc.boolean(),
    comment: fc.constantFrom(null, '#', '##'),
    comments: fc.constantFrom('lines' as const, 'infix' as const),
    escapes: fc.constantFrom(null, null, null, 'any' as const),
  })
  .map((dialect): ModelDialect => (dialect.comment === null ? { ...dialect, comments: 'lines' } : dialect))
  .map((dialect) =>
    dialect.escapes === null ? dialect : { ...dialect, quotes: 'strict', escape: '"', trim: false },
  );
const field = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('', 'x', 'NA', '""', '"NA"', '"x"', '"x,y"', '"a\nb"', '"a""b"', '" "'),
  },
  fc
    .array(fc.constantFrom('a', '"', '""', ' ', '\\', '#', '#', '\\"', '\\N', '\n', 'NA'), { maxLength: 5 })
    .map((all) => all.join('')),
);
/** Only files with many records use the fast scan. */
const longEnd = `\n${'x'.repeat(70)},"y",\n#\n"",NA,z\n`;
const texts = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.array(field, { minLength: 3, maxLength: 3 }) },
      fc.array(field, { minLength: 1, maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .chain((records) =>
    fc
      .constantFrom('\n', '', longEnd, longEnd.replace('#', 'w'))
      .map((end) => records.map((fields) => fields.join(',')).join('\n') + end),
  );

it('both decoders read what the dialect says', async () => {
  const seen = { rows: 0, rejects: 0 };
  const property = fc.asyncProperty(dialects, texts, async (dialect, text) => {
    const table = tableOf(dialect, { columns });
    const records = modelRecords(text, header.length, dialect);
    const expected = {
      rows: records
        .flatMap(({ values }) => (typeof values === 'string' ? [] : [encodeTextRow(values)]))
        .join(''),
      rejects: records.flatMap(({ line, byte, values }) =>
        typeof values === 'string' ? [{ code: values, line, byte }] : [],
      ),
    };
    expect(await readEverywhere(Buffer.from(text), table, header)).toEqual(expected);
    seen.rejects += expected.rejects.length;
    seen.rows += records.length - expected.rejects.length;
  });
  await fc.assert(property, { numRuns: searched(100) });
  expect(Math.min(seen.rows, seen.rejects)).toBeGreaterThan(50);
});

it('a line that is too long with its comment is rejected, however it is cut', async () => {
  const split = splitterOf({ comment: '#', comments: 'infix' });
  const lines = [recordBytesMax - 3, recordBytesMax - 4].map((bytes) => `1,2#${'x'.repeat(bytes)}\n`);
  const bytes = Buffer.from(`${lines.join('')}3,4\n`);
  const faults = async (...places: number[]) =>
    (await splitPieces(cutAt(bytes, ...places), split)).records.map(({ line, fault }) => [line, fault]);
  const expected = [
    [1, 'record_too_long'],
    [2, undefined],
    [3, undefined],
  ];
  for (const at of [
    0,
    3,
    4,
    100,
    recordBytesMax,
    recordBytesMax + 1,
    recordBytesMax + 2,
    recordBytesMax + 3,
    bytes.length - 5,
  ])
    expect(await faults(at), `cut at ${at}`).toEqual(expected);
  expect(await faults(10, 20, recordBytesMax, recordBytesMax + 50)).toEqual(expected);
});
