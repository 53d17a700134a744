// The compiled decoder against the record decoder: the same literals through both, loaded into two tables in binary and
// in text, compared byte by byte on the server; and the same rejects.

import fc, { type Arbitrary } from 'fast-check';
import { from as copyFrom } from 'pg-copy-streams';
import pg from 'pg';
import { Readable } from 'node:stream';
import { pipeline as join } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../src/format/rows/compiled-decoder.ts';
import { binaryHead, binaryTail } from '../../src/format/types/row-bytes.ts';
import { typeOf } from '../../src/format/types/registry.ts';
import type { DecodedBlock } from '../../src/format/rows/decoder.ts';
import { createRecordDecoder } from '../unit/format/records/record-decoder.ts';
import { createSplitter } from '../../src/format/records/splitter.ts';
import { column } from '../../src/pipeline/declare/column.ts';
import { searched } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';
import { decodedFile, blocksOf, cutAt, tableOf, decodeBlocks } from '../unit/format/records/reading.ts';
import * as literals from './column-type-literals.ts';

const database = useDatabase();
let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(() => client.end());

const load = async (table: string, options: string, bytes: readonly Buffer[]): Promise<void> =>
  join(Readable.from(bytes), client.query(copyFrom(`copy ${table} from stdin${options}`)));

const bytesOf = (decoded: readonly DecodedBlock[]): Buffer[] => decoded.map(({ copyBytes }) => copyBytes);

/** Values that end in a file of one column `v` beside an `id`; what the format cannot carry is left out. */
const fileOf = (values: readonly string[]): Buffer =>
  Buffer.from(
    values
      .filter((value) => !/[|\n\r\0]/.test(value))
      .map((value, index) => `${index}|${value}\n`)
      .join(''),
  );

interface Compared {
  readonly rows: number;
  readonly rejects: number;
}

/** Decodes and loads the file both ways, and compares. */
const compare = async (v: unknown, file: Buffer, options: object = {}): Promise<Compared> => {
  const table = tableOf(
    { delimiter: '|', quote: null, nulls: ['', 'NA'], ...options },
    { columns: { id: column.integer('id'), v } },
  );
  const header = ['id', 'v'];
  const split = createSplitter(table.format.dialect, 2, 'lf');
  const blocks = await blocksOf(cutAt(file, file.length >> 1), split);
  const compiled = decodeBlocks(blocks, createCompiledDecoder(table, decodedFile(header)));
  const record = decodeBlocks(blocks, createRecordDecoder(table, decodedFile(header), encodeTextRow));
  expect(compiled.flatMap(({ rejects }) => rejects)).toEqual(record.flatMap(({ rejects }) => rejects));
  expect(compiled.map(({ counts }) => counts)).toEqual(record.map(({ counts }) => counts));
  const { type, options: columnOptions } = table.columns[1]!;
  const sql = typeOf({ type }).sql(columnOptions);
  const send = `${(await client.query('select typsend::text as send from pg_type where oid = $1::regtype', [sql.replace(/\(.*/, '')])).rows[0].send}(v)`;
  await client.query(
    `drop table if exists a, b; create temp table a (id integer, v ${sql}); create temp table b (like a)`,
  );
  await load('a', ' with (format binary)', [binaryHead, ...bytesOf(compiled), binaryTail]);
  await load('b', '', bytesOf(record));
  const differ = (one: string, other: string): string =>
    `(select id, v::text, ${send} from ${one} except all select id, v::text, ${send} from ${other} limit 3)`;
  expect((await client.query(`${differ('a', 'b')} union all ${differ('b', 'a')}`)).rows).toEqual([]);
  const rows = Number((await client.query('select count(*) from a')).rows[0].count);
  return { rows, rejects: compiled.flatMap(({ rejects }) => rejects).length };
};

const sample = (literal: Arbitrary<string>, count = 4_000): string[] =>
  fc.sample(literal, { numRuns: count, seed: 20_110_101 });

const compact = literals.dateTimes.map((text) => text.replace(/[-:T ]/g, '').slice(0, 12));

const cases: readonly { name: string; v: unknown; values: Arbitrary<string> }[] = [
  { name: 'text', v: column.text('v').nullable(), values: literals.strings },
  { name: 'varchar', v: column.varchar('v', { length: 3 }).nullable(), values: literals.strings },
  { name: 'smallint', v: column.smallint('v').nullable(), values: literals.wholeNumbers },
  { name: 'integer', v: column.integer('v').nullable(), values: literals.wholeNumbers },
  {
    name: 'integer with groups',
    v: column.integer('v', { thousands: ',' }).nullable(),
    values: literals.wholeNumbers,
  },
  { name: 'bigint', v: column.bigint('v').nullable(), values: literals.wholeNumbers },
  { name: 'double', v: column.double('v').nullable(), values: literals.floats },
  {
    name: 'double with a decimal comma',
    v: column.double('v', { decimal: ',' }).nullable(),
    values: literals.floats.map((text) => text.replace('.', ',')),
  },
  { name: 'numeric', v: column.numeric('v').nullable(), values: literals.numerics },
  {
    name: 'numeric(9,6)',
    v: column.numeric('v', { precision: 9, scale: 6 }).nullable(),
    values: literals.numerics,
  },
  {
    name: 'numeric(5,2)',
    v: column.numeric('v', { precision: 5, scale: 2 }).nullable(),
    values: literals.numerics,
  },
  {
    name: 'numeric(5,2) rounded',
    v: column.numeric('v', { precision: 5, scale: 2, round: true }).nullable(),
    values: literals.numerics,
  },
  {
    name: 'numeric(30,10)',
    v: column.numeric('v', { precision: 30, scale: 10 }).nullable(),
    values: literals.numerics,
  },
  {
    name: 'numeric of many digits',
    v: column.numeric('v').nullable(),
    values: fc
      .tuple(fc.constantFrom('', '-', '+'), fc.bigInt(0n, 10n ** 60n), fc.nat(70))
      .map(([sign, digits, at]) => sign + String(digits).slice(0, at) + '.' + String(digits).slice(at)),
  },
  {
    name: 'numeric(12,3) with decimal comma and points',
    v: column.numeric('v', { precision: 12, scale: 3, decimal: ',', thousands: '.' }).nullable(),
    values: fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.nat(10 ** 9),
        fc.constantFrom('', ',', ',5', ',125', ',1250', ',1255'),
      )
      .map(
        ([sign, whole, decimals]) => sign + String(whole).replaceAll(/\B(?=(?:\d{3})+$)/g, '.') + decimals,
      ),
  },
  {
    name: 'double as others print it',
    v: column.double('v').nullable(),
    values: fc.double().map((value) => value.toExponential(16)),
  },
  {
    name: 'varchar beyond ASCII',
    v: column.varchar('v', { length: 5 }).nullable(),
    values: fc.string({ unit: fc.constantFrom('a', 'é', '日', '😀'), maxLength: 7 }),
  },
  { name: 'boolean', v: column.boolean('v').nullable(), values: literals.words },
  {
    name: 'boolean of its own words',
    v: column.boolean('v', { true: ['1', 'yes'], else: false }).nullable(),
    values: literals.words,
  },
  { name: 'date', v: column.date('v').nullable(), values: fc.oneof(literals.isoDates, literals.infinite) },
  {
    name: 'date of a pattern',
    v: column.date('v', { format: 'DD.MM.YYYY' }).nullable(),
    values: literals.isoDates.map((text) => text.split('-').toReversed().join('.')),
  },
  { name: 'time', v: column.time('v').nullable(), values: literals.isoTimes },
  {
    name: 'timestamp',
    v: column.timestamp('v').nullable(),
    values: fc.oneof(literals.dateTimes, literals.infinite),
  },
  {
    name: 'timestamp of a pattern',
    v: column.timestamp('v', { format: 'YYYYMMDDHHmm' }).nullable(),
    values: compact,
  },
  {
    name: 'date of a month’s name',
    v: column.date('v', { format: 'D-MMM-YY' }).nullable(),
    values: fc
      .tuple(fc.nat(32), fc.constantFrom('Jan', 'FEB', 'mar', 'Dec', 'May'), fc.nat(99))
      .map(([day, month, year]) => `${day}-${month}-${String(year).padStart(2, '0')}`),
  },
  {
    name: 'time of 12 hours',
    v: column.time('v', { format: 'h:mm:ss A' }).nullable(),
    values: literals.isoTimes.map((text) => `${text.slice(0, 8)} ${text.length % 2 === 0 ? 'am' : 'PM'}`),
  },
  {
    name: 'timestamp of a pattern without fixed places',
    v: column.timestamp('v', { format: 'M/D/YYYY H:mm' }).nullable(),
    values: literals.dateTimes.map((text) =>
      text.slice(0, 16).replace(/(\d+)-0?(\d+)-0?(\d+)[T ]0?(\d+)/, '$2/$3/$1 $4'),
    ),
  },
  {
    name: 'timestamptz of a pattern',
    v: column.timestamptz('v', { format: 'YYYY-MM-DD HH:mm Z' }).nullable(),
    values: literals.concat(
      literals.dateTimes.map((text) => `${text.slice(0, 16).replace('T', ' ')} `),
      literals.offsets.map((text) => (text.length === 6 ? text.replace(':', '') : text)),
    ),
  },
  {
    name: 'timestamptz',
    v: column.timestamptz('v').nullable(),
    values: literals.concat(literals.dateTimes, literals.offsets),
  },
  {
    name: 'timestamptz of a zone',
    v: column.timestamptz('v', { zone: '-03:30' }).nullable(),
    values: literals.concat(literals.dateTimes, literals.maybe(literals.offsets)),
  },
  { name: 'uuid', v: column.uuid('v').nullable(), values: literals.uuids },
  { name: 'json', v: column.json('v').nullable(), values: literals.jsonTexts },
  {
    name: 'jsonb',
    v: column.jsonb('v').nullable(),
    values: fc.oneof(literals.jsonTexts, fc.json({ stringUnit: 'binary' })),
  },
  { name: 'a default', v: column.integer('v').default(7), values: literals.wholeNumbers },
  {
    name: 'tokens and null tokens',
    v: column.numeric('v', { precision: 5, scale: 2, tokens: { T: '0', '1': '2' }, nulls: ['9'] }).nullable(),
    values: fc.constantFrom('T', '1', '9', 'NA', '', '3', 'x', '12.5'),
  },
];

describe('binary and text encoding load the same', () => {
  it.each(cases)('$name', async ({ v, values }) => {
    const compared = await compare(v, fileOf(sample(values)));
    expect(compared.rows).toBeGreaterThan(100);
  });

  it('with trim, and blanks everywhere', async () => {
    const padded = literals.wholeNumbers.map((text) => ` \t${text}  `);
    const compared = await compare(column.integer('v').nullable(), fileOf(sample(padded)), { trim: true });
    expect(compared.rows).toBeGreaterThan(100);
  });

  it('with quotes, doubled ones and newlines among them', async () => {
    const quoted = fc.oneof(
      literals.strings,
      literals.strings.map((text) => `"${text.replaceAll('"', '""')}"`),
      fc.constant('"a\nb"'),
    );
    const file = Buffer.from(
      sample(quoted)
        .filter((value) => !/[|\r\0]/.test(value))
        .map((value, index) => `${index}|${value}\n`)
        .join(''),
    );
    const compared = await compare(column.text('v').nullable(), file, { quote: '"' });
    expect(compared.rows).toBeGreaterThan(100);
    expect(compared.rejects).toBeGreaterThan(0);
  });
});

/** More than these middles have. */
const exactDigits = 100;

/** Decimals right at, just below and just above the middle between two neighbouring float4. */
const halfway: Arbitrary<string> = fc
  .tuple(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(-1, 0, 1))
  .map(([value, side]) => {
    const bits = new Uint32Array(new Float32Array([Math.abs(value)]).buffer);
    bits[0]! += 1;
    const next = new Float32Array(bits.buffer)[0]!;
    const middle = Number.isFinite(next) ? (Math.abs(value) + next) / 2 : Math.abs(value);
    const exact = middle.toPrecision(exactDigits).replace(/e.*$/, '');
    const exponent = /e(.*)$/.exec(middle.toPrecision(exactDigits))?.[1] ?? '0';
    const last = side === 0 ? '' : side > 0 ? '1' : '';
    const digits =
      side < 0
        ? exact.replace(/(\d)([^\d]*)$/, (_, digit: string) => String(Math.max(0, Number(digit) - 1)) + '9')
        : exact + last;
    return `${digits}e${exponent}`;
  });

describe('real', () => {
  it('literals, halfway cases included, are rounded as the server rounds them', async () => {
    for (let round = 0; round < searched(3); round += 1) {
      const values = fc.sample(fc.oneof(literals.floats, halfway, halfway), {
        numRuns: 10_000,
        seed: round,
      });
      const compared = await compare(column.real('v').nullable(), fileOf(values));
      expect(compared.rows).toBeGreaterThan(5_000);
    }
  });
});
