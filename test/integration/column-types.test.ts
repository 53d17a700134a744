// Column types against the real server: what a reader accepts the server accepts, and the reverse.

import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnOptions } from '../../src/core/declaration.ts';
import { isRefusal } from '../../src/format/types/contract.ts';
import { columnTypes, typeOf, type ColumnTypeName } from '../../src/format/types/registry.ts';
import { useDatabase } from '../helpers/server.ts';
import {
  concat,
  damaged,
  dateTimes,
  floats,
  infinite,
  isoDates,
  isoTimes,
  jsonTexts,
  many,
  maybe,
  numerics,
  offsets,
  runs,
  strings,
  uuids,
  wholeNumbers,
  words,
} from './column-type-literals.ts';
import { serverReads, serverTakes } from './column-type-server.ts';

const database = useDatabase();

/** A type with its options, what is tried, and the literals that it must take when the server takes them. */
interface Trial {
  readonly type: ColumnTypeName;
  readonly options?: ColumnOptions;
  readonly literals: Arbitrary<string>;
  readonly documented?: RegExp;
}

const wholeSyntax = /^[+-]?\d+$/;
const floatSyntax = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?|nan)$/i;
const dateSyntax = String.raw`\d{4}-\d{2}-\d{2}`;
const timeSyntax = String.raw`(?:[01]\d|2[0-3]):\d{2}(?::[0-5]\d(?:\.\d{1,6})?)?`;
const offsetSyntax = String.raw`(?:Z|[+-]\d{2}(?::\d{2}(?::\d{2})?)?)`;

const trials: readonly Trial[] = [
  { type: 'text', literals: strings, documented: /^/ },
  { type: 'varchar', options: { length: 5 }, literals: strings },
  { type: 'smallint', literals: wholeNumbers, documented: wholeSyntax },
  { type: 'integer', literals: wholeNumbers, documented: wholeSyntax },
  { type: 'bigint', literals: wholeNumbers, documented: wholeSyntax },
  { type: 'real', literals: floats, documented: floatSyntax },
  { type: 'double', literals: floats, documented: floatSyntax },
  { type: 'numeric', literals: numerics, documented: floatSyntax },
  { type: 'numeric', options: { precision: 5, scale: 2 }, literals: numerics },
  {
    type: 'numeric',
    options: { precision: 5, scale: 2, round: true },
    literals: numerics,
    documented: floatSyntax,
  },
  {
    type: 'numeric',
    options: { precision: 3, scale: 3, round: true },
    literals: numerics,
    documented: floatSyntax,
  },
  {
    type: 'numeric',
    options: { precision: 4, round: true },
    literals: numerics,
    documented: floatSyntax,
  },
  { type: 'boolean', literals: words, documented: /^(?:t|true|y|yes|on|1|f|false|n|no|off|0)$/i },
  {
    type: 'date',
    literals: fc.oneof(damaged(isoDates), isoDates, infinite),
    documented: new RegExp(`^${dateSyntax}$`),
  },
  {
    type: 'time',
    literals: fc.oneof(damaged(isoTimes), isoTimes),
    documented: new RegExp(`^${timeSyntax}$`),
  },
  {
    type: 'timestamp',
    literals: fc.oneof(damaged(dateTimes), dateTimes, infinite),
    documented: new RegExp(`^${dateSyntax}[T ]${timeSyntax}$`),
  },
  {
    type: 'timestamptz',
    literals: fc.oneof(damaged(concat(dateTimes, offsets)), concat(dateTimes, offsets), infinite),
    documented: new RegExp(`^${dateSyntax}[T ]${timeSyntax}${offsetSyntax}$`),
  },
  { type: 'timestamptz', options: { zone: '-11:30' }, literals: concat(dateTimes, maybe(offsets)) },
  { type: 'uuid', literals: uuids },
  { type: 'json', literals: jsonTexts, documented: /^/ },
  { type: 'jsonb', literals: jsonTexts, documented: /^/ },
];

const named = trials.map((trial) => ({
  ...trial,
  name: `${trial.type} ${JSON.stringify(trial.options ?? {})}`,
}));

describe('what the reader accepts, the server accepts', () => {
  it.each(named)('$name', async ({ type, options = {}, literals }) => {
    const read = typeOf({ type }).reader(options);
    const property = fc.asyncProperty(many(literals), async (texts) => {
      const accepted = texts.map(read).filter((result) => typeof result === 'string');
      const taken = await serverTakes(database, typeOf({ type }).sql(options), accepted);
      expect(accepted.filter((_, place) => !taken[place])).toEqual([]);
    });
    await fc.assert(property, runs);
  });
});

describe('within the documented syntax, what the server accepts the reader accepts', () => {
  it.each(named.filter(({ documented }) => documented !== undefined))(
    '$name',
    async ({ type, options = {}, literals, documented }) => {
      const read = typeOf({ type }).reader(options);
      const property = fc.asyncProperty(many(literals), async (texts) => {
        const refused = texts.filter((text) => documented!.test(text) && isRefusal(read(text)));
        const taken = await serverTakes(database, typeOf({ type }).sql(options), refused);
        expect(refused.filter((_, place) => taken[place])).toEqual([]);
      });
      await fc.assert(property, runs);
    },
  );

  it('numeric(5,2) without round accepts exactly what the server stores unchanged', async () => {
    const read = columnTypes.numeric.reader({ precision: 5, scale: 2 });
    const property = fc.asyncProperty(many(numerics), async (all) => {
      const texts = all.filter((text) => floatSyntax.test(text));
      const [inAll, inSome] = [
        await serverTakes(database, 'numeric', texts),
        await serverTakes(database, 'numeric(5,2)', texts),
      ];
      const both = texts.filter((_, place) => inAll[place] && inSome[place]);
      const same = await serverReads(database, 'numeric', both, 'value = value::numeric(5,2)');
      expect(both.map((text) => typeof read(text) === 'string')).toEqual(same);
    });
    await fc.assert(property, runs);
  });
});

/** What the server refuses, and so must the reader. */
const refusedByServer: readonly (readonly [ColumnTypeName, ColumnOptions, readonly string[]])[] = [
  ['varchar', { length: 2 }, ['abc', 'äöü', '😀😀😀']],
  ['smallint', {}, ['', '32768', '-32769', '1.0', '1e2', 'x', '+', '1,000', '--1']],
  ['integer', {}, ['2147483648', '-2147483649', '1 2', '∞', '١']],
  ['bigint', {}, ['9223372036854775808', '-9223372036854775809', '99999999999999999999']],
  ['real', {}, ['', '.', '3.4028236e38', '7e-46', '1e-400', '1e39', 'e5', '1e', '1,5', 'infi']],
  ['double', {}, ['1.8e308', '2e-324', '1e400', '1e-400', '-', '1.2.3', 'nane']],
  ['numeric', {}, ['1e131072', '1e-16384', '0e-16384', '0e1073741824', '1e', '+NaN', '.', '']],
  ['numeric', { precision: 5, scale: 2, round: true }, ['1000', '999.995', '-999.999', 'inf', '99.9995e1']],
  ['boolean', {}, ['', '2', 'ja', 'o', 'tt', 'truth']],
  ['date', {}, ['2011-02-30', '1900-02-29', '2011-13-01', '0000-01-01', '2011-00-10', '', '2011']],
  ['time', {}, ['25:00', '24:00:01', '12:60', '12:00:61', 'noon', '']],
  ['timestamp', {}, ['2011-02-30 00:00', '2011-01-01 25:00', '2011-01-01T00:00:61', '0000-01-01 00:00']],
  ['timestamptz', {}, ['2011-01-01T00:00+16', '2011-01-01T00:00-15:60', '2011-02-29T00:00Z']],
  [
    'uuid',
    {},
    ['', 'a0eebc99', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ],
  ['json', {}, ['', '{', "{'a':1}", '[1,]', '01', '"\\x"', '"\t"', 'NaN']],
  [
    'jsonb',
    {},
    ['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '1e131072', '{"a":1e-16384}', '{"\\u0000":1}'],
  ],
];

describe('what the server refuses, the reader refuses', () => {
  it.each(
    refusedByServer.map(([type, options, texts]) => ({
      type,
      options,
      texts,
      name: `${type} ${JSON.stringify(options)}`,
    })),
  )('$name', async ({ type, options, texts }) => {
    const { sql, reader } = typeOf({ type });
    const taken = await serverTakes(database, sql(options), texts);
    expect(texts.filter((_, place) => taken[place])).toEqual([]);
    expect(texts.filter((text) => !isRefusal(reader(options)(text)))).toEqual([]);
  });
});

describe('of', () => {
  it('puts a column of that type into a table, and nothing else', async () => {
    const names = [
      'double precision',
      'numeric(8, 2)[]',
      'timestamp(3) with time zone',
      'pg_catalog."int4"',
      'interval day to second(3)',
    ];
    const columns = names.map((sqlType, place) => `c${place} ${columnTypes.of.sql({ sqlType })}`);
    await database.query(`create table of_types (${columns.join(', ')})`);
    const { rows } = await database.query<{ type: string }>(
      `select format_type(atttypid, atttypmod) as type
         from pg_attribute where attrelid = 'of_types'::regclass and attnum > 0 order by attnum`,
    );
    expect(rows.map(({ type }) => type)).toEqual([
      'double precision',
      'numeric(8,2)[]',
      'timestamp(3) with time zone',
      'integer',
      'interval day to second(3)',
    ]);
  });
});
