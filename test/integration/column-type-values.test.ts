// Column types against the real server: the value that is stored is the one that was written.

import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnOptions } from '../../src/core/declaration.ts';
import { isRefusal, type ColumnType } from '../../src/format/types/contract.ts';
import { columnTypes, typeOf } from '../../src/format/types/registry.ts';
import { column } from '../../src/index.ts';
import { valuePrinter } from '../../src/tools/print-value.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { tableOf } from '../unit/format/records/reading.ts';
import {
  bytes,
  concat,
  damaged,
  dateTimes,
  infinite,
  isoDates,
  isoTimes,
  many,
  offsets,
  runs,
  uuids,
  wholeNumbers,
  wideTexts,
  words,
} from './column-type-literals.ts';
import { serverReads, serverTakes } from './column-type-server.ts';

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

describe('what the server makes of moments', () => {
  it('decimals after the sixth are rounded as it rounds them', async () => {
    const digit = fc.constantFrom(...'0123456789');
    const fraction = fc.oneof(
      fc.string({ unit: digit, minLength: 7, maxLength: 20 }),
      fc
        .tuple(
          fc.string({ unit: digit, minLength: 6, maxLength: 6 }),
          fc.constantFrom('5', '50', '4999', '5001'),
        )
        .map((parts) => parts.join('')),
      fc.constantFrom('9999995', '99999949', '9999999', '0000005', '0000015', '999999500000'),
    );
    const clocks = fc.constantFrom('23:59:59', '12:30:59', '00:00:00', '22:59:59');
    const days = fc.constantFrom(
      '2011-12-31',
      '2012-02-28',
      '2011-02-28',
      '0099-12-31',
      '1999-12-31',
      '2011-06-15',
    );
    const literal = fc.tuple(days, clocks, fraction);
    const reads = [
      columnTypes.time.reader({ round: true }),
      columnTypes.timestamp.reader({ round: true }),
      columnTypes.timestamptz.reader({ round: true }),
    ] as const;
    const property = fc.asyncProperty(many(literal), async (literals) => {
      const texts = literals.map(
        ([day, clock, decimals]) =>
          [
            `${clock}.${decimals}`,
            `${day} ${clock}.${decimals}`,
            `${day}T${clock}.${decimals}+03:30`,
          ] as const,
      );
      for (const [place, type] of (['time', 'timestamp', 'timestamptz'] as const).entries()) {
        const written = texts.map((each) => each[place]!);
        const own = written.map((text) => reads[place]!(text) as string);
        expect(await serverReads(database, type, own)).toEqual(await serverReads(database, type, written));
      }
    });
    await fc.assert(property, { numRuns: 4 });
  });

  // Zones whose rules no release of the tz database has changed for these years; later ones in which the rules of today go on.
  it.each([
    ['Europe/Berlin', 1900, 2100],
    ['Australia/Lord_Howe', 1982, 2040],
    ['Pacific/Apia', 1951, 2020],
    // Clocks are set back for the month of Ramadan alone.
    ['Africa/Casablanca', 2010, 2022],
    ['America/Sao_Paulo', 1960, 2020],
  ])('local times of %s from %d to %d are the instants that it says', async (zone, from, to) => {
    // Around each change, which the server's offsets show, and once a month.
    const { rows } = await database.query<{ instant: string; local: string }>(
      `with months as (
         select generate_series($2::timestamptz, $3::timestamptz, '10 days') as at
       ), changes as (
         select at, (select min(day) from generate_series(at, at + interval '10 days', '1 hour') as list(day)
                      where (day at time zone $1) - (day at time zone 'UTC') <> (at at time zone $1) - (at at time zone 'UTC')) as change
           from months
          where (at at time zone $1) - (at at time zone 'UTC')
             <> ((at + interval '10 days') at time zone $1) - ((at + interval '10 days') at time zone 'UTC')
       ), instants as (
         select at + interval '17 minutes' as instant from months
         union
         select change + part * interval '15 minutes' from changes, generate_series(-13, 13) as list(part)
       )
       select extract(epoch from instant)::bigint::text as instant,
              to_char(instant at time zone $1, 'YYYY-MM-DD"T"HH24:MI:SS') as local
         from instants`,
      [zone, `${from}-01-01Z`, `${to}-01-01Z`],
    );
    const reader = (ambiguous: 'reject' | 'earlier' | 'later') =>
      columnTypes.timestamptz.reader({ zone, ambiguous });
    const [strict, earlier, later] = (['reject', 'earlier', 'later'] as const).map(reader) as [
      Read,
      Read,
      Read,
    ];
    type Read = ReturnType<typeof reader>;
    const seconds = (text: ReturnType<Read>): number =>
      typeof text === 'string' ? Date.parse(text) / 1000 : NaN;
    let ambiguous = 0;
    const wrong = rows.filter(({ instant, local }) => {
      const read = strict(local);
      if (typeof read === 'string') return seconds(read) !== Number(instant);
      ambiguous += 1;
      const both = [seconds(earlier(local)), seconds(later(local))];
      return !read.reason.includes('occurs twice') || !both.includes(Number(instant)) || both[0]! >= both[1]!;
    });
    expect(wrong).toEqual([]);
    expect(rows.length).toBeGreaterThan(400);
    // Two texts for each hour that occurs twice.
    expect(ambiguous % 2).toBe(0);
  });
});

it('bytea: escapes and digits are the bytes that the server reads, which takes them all', async () => {
  const read = columnTypes.bytea.reader({});
  const property = fc.asyncProperty(many(damaged(bytes)), async (texts) => {
    const taken = texts.filter((text) => !isRefusal(read(text)));
    const canonical = taken.map((text) => read(text) as string);
    expect(canonical).toEqual(await serverReads(database, 'bytea', taken));
    expect(await serverTakes(database, 'bytea', texts)).toEqual(texts.map((text) => !isRefusal(read(text))));
  });
  await fc.assert(property, runs);
});

it('bytea in hexadecimal and base64: the bytes that were written', () => {
  const property = fc.property(fc.uint8Array({ maxLength: 40 }), (values) => {
    const written = Buffer.from(values);
    const stored = `\\x${written.toString('hex')}`;
    const inHex = columnTypes.bytea.reader({ encoding: 'hex' });
    const inBase64 = columnTypes.bytea.reader({ encoding: 'base64' });
    expect([inHex(stored), inHex(stored.slice(2).toUpperCase())]).toEqual([stored, stored]);
    for (const alphabet of ['base64', 'base64url'] as const) {
      const text = written.toString(alphabet);
      expect(inBase64(text)).toBe(stored);
      expect(
        [inHex('0'), inHex('\\x0g'), inBase64(`${text}*`), inBase64('A'), inBase64('AB=A')].every((result) =>
          isRefusal(result as string),
        ),
      ).toBe(true);
    }
  });
  fc.assert(property);
});

/** PostgreSQL reads them in hexadecimal, and with `_` among the digits, since version 16. */
const widerSince16 = new Set(['smallint', 'integer', 'bigint', 'numeric']);

describe("spelling: 'server'", () => {
  const names = Object.keys(wideTexts) as (keyof typeof wideTexts)[];
  it.each(names.filter((name) => serverMajor >= 16 || !widerSince16.has(name)))(
    'what it reads as %s is the value of the server, and more than without',
    async (name) => {
      const type: ColumnType = columnTypes[name];
      const [read, strict] = [type.reader({ spelling: 'server' }), type.reader({})];
      const sql = type.sql({});
      let wider = 0;
      const property = fc.asyncProperty(many(wideTexts[name]), async (texts) => {
        const taken = texts.flatMap((text) => {
          const canonical = read(text);
          return isRefusal(canonical) ? [] : [{ text, canonical }];
        });
        wider += taken.filter(({ text }) => isRefusal(strict(text))).length;
        const written = taken.map(({ text }) => text);
        const takes = await serverTakes(database, sql, written);
        expect(written.filter((_, place) => !takes[place]!)).toEqual([]);
        const own = await serverReads(
          database,
          sql,
          taken.map(({ canonical }) => canonical),
        );
        expect(own).toEqual(await serverReads(database, sql, written));
      });
      await fc.assert(property, { numRuns: 12 });
      expect(wider).toBeGreaterThan(20);
    },
  );
});

/** Numbers as files have them. */
const decimals = fc
  .tuple(
    fc.constantFrom('', '-', '+', '00'),
    fc.nat(99_999),
    fc.constantFrom('', '.', '.5', '.25', '.0605', '.0625', '.99951'),
    fc.constantFrom('', 'e3', 'e-6'),
  )
  .map((parts) => parts.join(''));

/** Where the text depends on the session. */
const printed: Readonly<Record<string, string>> = {
  timestamptz: "(value at time zone 'UTC')::text || '+00'",
};

describe('etl preview prints a value as the server prints it once it is stored', () => {
  it.each([
    { name: 'smallint', of: column.smallint('x'), literals: wholeNumbers },
    { name: 'bigint', of: column.bigint('x'), literals: wholeNumbers },
    { name: 'real', of: column.real('x'), literals: fc.oneof(decimals, infinite) },
    { name: 'double', of: column.double('x'), literals: fc.oneof(decimals, infinite) },
    {
      name: 'numeric',
      of: column.numeric('x'),
      literals: fc.oneof(decimals, fc.constantFrom('0e400000000', '0e-20', '-0', '1e-300', '1e300')),
    },
    {
      name: 'numeric(9,3) that rounds',
      of: column.numeric('x', { precision: 9, scale: 3, round: true }),
      literals: decimals,
    },
    { name: 'numeric(4)', of: column.numeric('x', { precision: 4 }), literals: decimals },
    { name: 'boolean', of: column.boolean('x'), literals: fc.constantFrom('t', 'no', '1', 'FALSE') },
    { name: 'date', of: column.date('x'), literals: fc.oneof(isoDates, infinite) },
    { name: 'time', of: column.time('x'), literals: isoTimes },
    { name: 'timestamp', of: column.timestamp('x'), literals: fc.oneof(dateTimes, infinite) },
    { name: 'timestamptz', of: column.timestamptz('x'), literals: concat(dateTimes, offsets) },
    { name: 'uuid', of: column.uuid('x'), literals: uuids },
    { name: 'bytea', of: column.bytea('x'), literals: bytes },
  ])('$name', async ({ name, of, literals }) => {
    const [spec] = tableOf({}, { columns: { x: of } }).columns;
    const type = typeOf(spec!);
    const read = type.reader(spec!.options);
    const print = valuePrinter(spec!);
    const property = fc.asyncProperty(many(damaged(literals)), async (drawn) => {
      const texts = drawn.map(read).filter((text): text is string => !isRefusal(text));
      expect(texts.map(print)).toEqual(
        await serverReads(database, type.sql(spec!.options), texts, printed[name] ?? 'value::text'),
      );
    });
    await fc.assert(property, runs);
  });
});
