// Rows in COPY's text format, for tables with a column that the server reads. They must equal those
// of the record decoder, which writes what the column readers return.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { column, type AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import { when } from '../../../../src/pipeline/declare/filter.ts';
import { outcomeOf } from './both-decoders.ts';
import { blocksOf, cutAt, decodedFile, tableOf } from './reading.ts';
import { createRecordDecoder } from './record-decoder.ts';
import { searched } from '../../../helpers/seeded.ts';

/** A column of each type and spelling, with valid and invalid texts. */
const columns: Readonly<Record<string, readonly [AnyColumn, readonly string[]]>> = {
  of: [
    column.of('citext', 'v'),
    ['Ab', 'a\\b', 'a\tb', '"two\nlines"', 'a\rb', '\\N', '\\.', 'é'.repeat(40)],
  ],
  text: [column.text('v'), ['', 'x', '"a ""b"" c"', `${'x'.repeat(15)}\\`, '\t'.repeat(33), '\\\\']],
  varchar: [column.varchar('v', { length: 3 }), ['abc', 'abcd', 'ééé', '\\\\\\']],
  smallint: [column.smallint('v'), ['7', '-0', '+5', '007', '40000', 'x']],
  bigint: [column.bigint('v'), ['9223372036854775807', '-1', '1.0']],
  thousands: [column.integer('v', { thousands: '.' }), ['1.000', '1000', '1.00']],
  real: [column.real('v'), ['0.1', '5.', '.5', '1e5', 'NaN', '-Infinity', '1e99']],
  double: [column.double('v', { decimal: ',' }), ['"0,1"', '5', '1.5']],
  numeric: [column.numeric('v'), ['1.50', '-0.00', '1e-3', 'NaN', '123456789012345678901234567890.5', '--1']],
  scaled: [column.numeric('v', { precision: 5, scale: 2, round: true }), ['1.005', '999.99', '999.999', '1']],
  comma: [
    column.numeric('v', { precision: 9, scale: 2, decimal: ',', thousands: '.' }),
    ['"1.234,5"', '1.234', '"1,5"', '12'],
  ],
  boolean: [column.boolean('v'), ['t', 'TRUE', 'yes', 'off', '0', 'x']],
  words: [column.boolean('v', { true: ['J'], else: false }), ['J', 'N', 't']],
  date: [column.date('v'), ['2011-01-31', '2011-02-30', 'infinity', '31.01.2011']],
  german: [column.date('v', { format: 'D.M.YYYY' }), ['31.1.2011', '2011-01-31']],
  time: [column.time('v'), ['00:53', '23:59:59.999999', '24:00']],
  clock: [column.time('v', { format: 'h:mm A' }), ['1:05 PM', '13:05']],
  timestamp: [
    column.timestamp('v'),
    ['2011-01-31 00:53', '2011-01-31T00:53:07.5', '-infinity', '2011-01-31'],
  ],
  compact: [column.timestamp('v', { format: 'YYYYMMDDHHmm' }), ['201101310053', '2011-01-31 00:53']],
  timestamptz: [
    column.timestamptz('v'),
    ['2011-01-31T00:53Z', '2011-01-31 00:53:07.123+01:30', '2011-01-31 00:53'],
  ],
  zoned: [column.timestamptz('v', { zone: '+01:00' }), ['2011-01-31 00:53', '2011-01-31T00:53Z', 'infinity']],
  uuid: [
    column.uuid('v'),
    ['00000000-0000-0000-0000-00000000000A', '{00000000-0000-0000-0000-00000000000a}', '0'.repeat(32), 'x'],
  ],
  json: [column.json('v'), ['{"a":[1]}', '"""x\\\\y"""', '{', 'null']],
  jsonb: [column.jsonb('v'), ['1e5', '"""\\\\u0000"""', '[ ]']],
  token: [column.integer('v', { tokens: { T: '0' } }).default(7), ['T', '5', 'NA', '']],
  null: [column.text('v').nullable(), ['NA', 'x']],
  missing: [column.text('v').default('a\tb'), ['NA', 'x']],
  glued: [
    column.timestamp(['v', 'w'], { format: 'YYYYMMDDHHmm' }).nullable(),
    ['20110131', 'NA', '20110230'],
  ],
  separated: [column.text(['v', 'v', 'w'], { separator: '\t"' }), ['a\\b', '']],
  bounded: [column.integer('v').min(0).max(9), ['5', '10', '+5', '-1']],
  checked: [column.text('v').check((text) => text !== 'x', 'is x'), ['a\\b', 'x', '']],
  mapped: [
    column
      .text('v')
      .map((text) => (text === 'x' ? null : `${text}\t`))
      .default(''),
    ['a', 'x'],
  ],
  schema: [column.integer('v').zod(z.int().transform((n) => n * 2)), ['4', '+4', 'x']],
};
const served = column.of('citext', 'w').nullable();

const outcomesOf = async (made: AnyColumn, file: Buffer, options: object, cut: number) => {
  const table = tableOf(
    { nulls: ['NA'], ...options },
    {
      columns: { served, v: made, again: column.text('w').nullable() },
      filter: when(({ w }) => w !== 'no', ['w']),
    },
  );
  const blocks = await blocksOf(cutAt(file, cut), createSplitter(table.format.dialect, 2, 'lf'));
  return [
    createCompiledDecoder(table, decodedFile(['v', 'w']), encodeTextRow),
    createRecordDecoder(table, decodedFile(['v', 'w']), encodeTextRow),
  ].map((decode) => outcomeOf(blocks, decode));
};

describe('rows in text are those of the record decoder', () => {
  const dialects = [{}, { trim: true }, { trim: 'outside' as const, delimiter: '||' }, { escape: '\\' }];

  it.each(Object.entries(columns))('%s', async (_, [made, texts]) => {
    const field = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...texts, ...texts.map((text) => `${text} `)) },
      fc.string(),
    );
    const others = fc.constantFrom('0053', 'no', 'NA', '', 'a\\b', '"c,""d"""', 'x\ty', 'z'.repeat(90));
    const records = fc.array(fc.tuple(field, others), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(records, fc.constantFrom(...dialects), fc.nat(200), async (lines, options, cut) => {
        const between = 'delimiter' in options ? options.delimiter : ',';
        const file = Buffer.from(lines.map((fields) => `${fields.join(between)}\n`).join(''));
        const [compiled, record] = await outcomesOf(made, file, options, Math.min(cut, file.length));
        expect(compiled).toEqual(record);
      }),
      { numRuns: searched(20) },
    );
  });

  it('of more rows than the memory holds', async () => {
    const rows = Array.from({ length: 30_000 }, (_, n) => `${n},${'\t'.repeat(n % 40)}\n`);
    const file = Buffer.from(rows.join(''));
    const [compiled, record] = await outcomesOf(column.integer('v'), file, {}, 0);
    expect(compiled).toEqual(record);
  });
});
