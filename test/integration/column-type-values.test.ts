// Column types against the real server: the value that is stored is the one that was written.

import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnOptions } from '../../src/declaration.ts';
import { columnTypes } from '../../src/format/column-types/registry.ts';
import { useDatabase } from '../helpers/server.ts';
import { many, runs, uuids, words } from './column-type-literals.ts';
import { serverReads } from './column-type-server.ts';

const database = useDatabase();

describe('the value that the reader makes of a text is the one that was written', () => {
  const grouped = (value: bigint, separator: string): string =>
    String(value).replace(/\B(?=(?:\d{3})+$)/g, separator);

  it('bigint in groups of three digits', async () => {
    const read = columnTypes.bigint.reader({ thousands: '.' });
    const property = fc.asyncProperty(many(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)), async (values) => {
      const texts = values.map((value) => read(grouped(value, '.')) as string);
      expect(await serverReads(database, 'bigint', texts)).toEqual(values.map(String));
      expect(texts.map((text) => columnTypes.bigint.toValue(text, {}))).toEqual(values);
    });
    await fc.assert(property, runs);
  });

  it('double with a decimal comma, and back from a number', async () => {
    const read = columnTypes.double.reader({ decimal: ',' });
    const property = fc.asyncProperty(many(fc.double()), async (values) => {
      const texts = values.map(
        (value) => read(columnTypes.double.fromValue(value)!.replace('.', ',')) as string,
      );
      const server = await serverReads(database, 'double precision', texts);
      expect(server.map(Number)).toEqual(values);
      expect(texts.map((text) => columnTypes.double.toValue(text, {}))).toEqual(values);
    });
    await fc.assert(property, runs);
  });

  it('real: every number with 24 bits comes back', async () => {
    const read = columnTypes.real.reader({});
    const property = fc.asyncProperty(many(fc.float()), async (values) => {
      const texts = values.map((value) => read(columnTypes.real.fromValue(value)!) as string);
      const server = await serverReads(database, 'real', texts);
      expect(server.map((text) => Math.fround(Number(text)))).toEqual(values);
    });
    await fc.assert(property, runs);
  });

  it('numeric with a decimal comma and blanks between groups', async () => {
    const options: ColumnOptions = { precision: 30, scale: 4, decimal: ',', thousands: ' ' };
    const read = columnTypes.numeric.reader(options);
    const values = fc.tuple(fc.bigInt(1n, 10n ** 25n), fc.nat(9999), fc.constantFrom('', '-'));
    const property = fc.asyncProperty(many(values), async (numbers) => {
      const written = numbers.map(
        ([whole, rest, minus]) => [minus, whole, String(rest).padStart(4, '0')] as const,
      );
      const texts = written.map(
        ([minus, whole, rest]) => read(`${minus}${grouped(whole, ' ')},${rest}`) as string,
      );
      const plain = written.map(([minus, whole, rest]) => `${minus}${whole}.${rest}`);
      expect(texts).toEqual(plain);
      expect(await serverReads(database, 'numeric(30,4)', texts)).toEqual(plain);
    });
    await fc.assert(property, runs);
  });

  it('boolean, uuid and jsonb: the value that checks see is the one that is stored', async () => {
    const property = fc.asyncProperty(many(words), many(uuids), many(fc.json()), async (...lists) => {
      const [booleans, ids, documents] = lists.map((texts, place) =>
        texts
          .map(columnTypes[(['boolean', 'uuid', 'jsonb'] as const)[place]!].reader({}))
          .filter((text) => typeof text === 'string'),
      ) as [string[], string[], string[]];
      expect(await serverReads(database, 'boolean', booleans, 'value')).toEqual(
        booleans.map((text) => columnTypes.boolean.toValue(text, {})),
      );
      expect(await serverReads(database, 'uuid', ids)).toEqual(
        ids.map((text) => columnTypes.uuid.toValue(text, {})),
      );
      const again = documents.map((text) => columnTypes.jsonb.fromValue(columnTypes.jsonb.toValue(text, {})));
      const stored = await serverReads(database, 'jsonb', documents);
      expect(await serverReads(database, 'jsonb', again as string[])).toEqual(stored);
    });
    await fc.assert(property, { numRuns: 4 });
  });
});

interface Moment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micros: number;
}

const moments: Arbitrary<Moment> = fc.record({
  year: fc.integer({ min: 1969, max: 2068 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 28 }),
  hour: fc.nat(23),
  minute: fc.nat(59),
  second: fc.nat(59),
  micros: fc.nat(999_999),
});

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Each pattern with a writer of its own; the server's to_char is the judge. */
const patterns: readonly (readonly [format: string, write: (at: Moment) => string, kept: string])[] = [
  [
    'YYYYMMDDHHmm',
    (at) => `${at.year}${pad(at.month)}${pad(at.day)}${pad(at.hour)}${pad(at.minute)}`,
    'minute',
  ],
  [
    'D.M.YYYY H:mm:ss',
    (at) => `${at.day}.${at.month}.${at.year} ${at.hour}:${pad(at.minute)}:${pad(at.second)}`,
    'second',
  ],
  [
    'MMM DD, YYYY hh:mm:ss.SSSSSS A',
    (at) =>
      `${months[at.month - 1]} ${pad(at.day)}, ${at.year} ${pad(at.hour % 12 || 12)}:${pad(at.minute)}:` +
      `${pad(at.second)}.${pad(at.micros, 6)} ${at.hour < 12 ? 'AM' : 'PM'}`,
    'microseconds',
  ],
  [
    'YYMMDDTHHmmss',
    (at) =>
      `${pad(at.year % 100)}${pad(at.month)}${pad(at.day)}T${pad(at.hour)}${pad(at.minute)}${pad(at.second)}`,
    'second',
  ],
  ['DD/MM/YYYY', (at) => `${pad(at.day)}/${pad(at.month)}/${at.year}`, 'day'],
];

describe('a pattern reads the moment that was written', () => {
  it.each(patterns)('%s', async (format, write, kept) => {
    const read = columnTypes.timestamp.reader({ format });
    const property = fc.asyncProperty(many(moments), async (list) => {
      const texts = list.map((at) => read(write(at)) as string);
      const parts = await serverReads(
        database,
        'timestamp',
        texts,
        `to_char(value, 'YYYY MM DD HH24 MI SS US')`,
      );
      const order = ['day', 'minute', 'second', 'microseconds'];
      const keeps = (part: string): boolean => order.indexOf(kept) >= order.indexOf(part);
      expect(parts).toEqual(
        list.map((at) =>
          [
            pad(at.year, 4),
            pad(at.month),
            pad(at.day),
            pad(keeps('minute') ? at.hour : 0),
            pad(keeps('minute') ? at.minute : 0),
            pad(keeps('second') ? at.second : 0),
            pad(keeps('microseconds') ? at.micros : 0, 6),
          ].join(' '),
        ),
      );
    });
    await fc.assert(property, { numRuns: 4 });
  });

  it('an offset in the text, or the zone of the column, gives the same instant', async () => {
    const reads = [
      columnTypes.timestamptz.reader({ format: 'YYYYMMDDHHmmssZ' }),
      columnTypes.timestamptz.reader({ zone: '+05:30' }),
    ] as const;
    const property = fc.asyncProperty(
      many(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
      async (dates) => {
        const seconds = dates.map((date) => Math.floor(date.getTime() / 1000));
        const local = seconds.map((second) =>
          new Date((second + 5.5 * 3600) * 1000).toISOString().slice(0, 19),
        );
        const compact = local.map((text) => reads[0](`${text.replace(/[-:T]/g, '')}+0530`) as string);
        const zoned = local.map((text) => reads[1](text) as string);
        for (const texts of [compact, zoned]) {
          const epochs = await serverReads(
            database,
            'timestamptz',
            texts,
            'extract(epoch from value)::bigint::text',
          );
          expect(epochs).toEqual(seconds.map(String));
          expect(texts.map((text) => Date.parse(columnTypes.timestamptz.toValue(text, {})) / 1000)).toEqual(
            seconds,
          );
        }
      },
    );
    await fc.assert(property, { numRuns: 4 });
  });
});
