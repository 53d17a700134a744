// What the TypeScript compiler must accept and refuse in a pipeline; checked by `tsc --noEmit`, never run.

import { z } from 'zod';
import {
  column,
  csv,
  definePipeline,
  expect,
  index,
  oneOf,
  present,
  range,
  sqlFile,
  when,
} from '../../src/pipeline/authoring.ts';
import { bindPipeline } from '../../src/pipeline/bind.ts';
import type { Column } from '../../src/pipeline/declare/column.ts';
import type { Row } from '../../src/pipeline/define-pipeline.ts';
import { rowSchema } from '../../src/pipeline/row-schema.ts';

type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const holds = <Claim extends true>(claim?: Claim): void => void claim;

// Values of the types.
holds<Equal<ReturnType<typeof column.text>, Column<string, false>>>();
holds<Equal<ReturnType<typeof column.bigint>, Column<bigint, false>>>();
holds<Equal<ReturnType<typeof column.numeric>, Column<string, false>>>();
holds<Equal<ReturnType<typeof column.jsonb>, Column<unknown, false>>>();

const noaa = definePipeline({
  name: 'noaa',
  schema: 'noaa',
  tables: {
    station: {
      source: csv('data/noaa/*station.txt', { delimiter: '|' }),
      columns: {
        wban: column.text('WBAN'),
        name: column.text('Name').nullable(),
        state: column.varchar('State', { length: 2 }).nullable(),
        latitude: column.numeric('Latitude', { precision: 8, scale: 5 }).nullable(),
      },
      primaryKey: ['wban'],
      filter: present('WBAN'),
    },
    observation: {
      source: csv(['a.txt', 'b.txt'], { trim: true, nulls: ['', 'M', 'null'] }),
      columns: {
        wban: column.text('WBAN'),
        observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
        dry_bulb_c: column.real('DryBulbCelsius').nullable(),
        wind_direction: column.smallint('WindDirection', { nulls: ['VR'] }).nullable(),
        kind: column
          .text('RecordType')
          .zod(z.enum(['AA', 'SP']))
          .default('AA'),
        gusts: column.bigint('Gusts').check((gusts) => gusts >= 0n, 'must not be negative'),
        station_name: column.of('citext', 'Name').map((text) => (text === '-' ? null : text)),
        extra: column.jsonb('Extra', { tokens: { none: '{}' } }),
        dry: column.boolean('Dry', { true: ['Y'], false: ['N'] }),
      },
      primaryKey: ['wban', 'observed_at'],
      partitionBy: range('observed_at', 'month'),
      indexes: [index('observed_at', { using: 'brin' }), index(['wban', 'kind'], { unique: true })],
      publish: 'replace',
      rejectLimit: '0.1%',
      staging: 'typed',
      guard: false,
      filter: [oneOf('RecordType', ['AA']), when((fields) => fields.State !== 'XX', ['State'])],
    },
    raw: {
      source: csv('raw.csv'),
      staging: 'text',
      transform: sqlFile(new URL('file:///raw.sql')),
      primaryKey: ['anything'],
      rejectLimit: 3,
    },
    daily: {
      from: ['observation'],
      transform: sqlFile('noaa/daily.sql'),
      primaryKey: ['wban', 'day'],
      comment: 'One row a day.',
      guard: { rowsMin: 1_000, shrinkMax: '20%' },
    },
    monthly: {
      from: ['daily', 'raw'],
      transform: sqlFile('noaa/monthly.sql'),
      row: z.object({
        month: z.string(),
        days: z.int(),
        warmest: z.number().nullable(),
        records: z.bigint(),
      }),
      primaryKey: ['month'],
      indexes: [index(['days', 'month'], { include: ['warmest'] })],
    },
  },
});

// Rows.
holds<
  Equal<
    Row<typeof noaa, 'station'>,
    { wban: string; name: string | null; state: string | null; latitude: string | null }
  >
>();
holds<
  Equal<
    Row<typeof noaa, 'observation'>,
    {
      wban: string;
      observed_at: string;
      dry_bulb_c: number | null;
      wind_direction: number | null;
      kind: 'AA' | 'SP';
      gusts: bigint;
      station_name: string;
      extra: unknown;
      dry: boolean;
    }
  >
>();
holds<Equal<Row<typeof noaa, 'daily'>, Record<string, unknown>>>();
holds<Equal<Row<typeof noaa, 'raw'>, Record<string, unknown>>>();
holds<
  Equal<Row<typeof noaa, 'monthly'>, { month: string; days: number; warmest: number | null; records: bigint }>
>();
// @ts-expect-error there is no such table
export type Missing = Row<typeof noaa, 'stations'>;

const schema = rowSchema(noaa, 'station');
holds<Equal<z.infer<typeof schema>, Row<typeof noaa, 'station'>>>();
// @ts-expect-error there is no such table
rowSchema(noaa, 'stations');

// Rules.
column
  .bigint('A')
  .min(0)
  .max(2n ** 60n)
  .oneOf([1n]);
column.numeric('A').min(0).max('99.5').oneOf(['1.5']);
column.date('A').min('2011-01-01');
column.varchar('A', { length: 2 }).oneOf(['AA']).pattern(/A/).length(2).length({ min: 1 });
// @ts-expect-error a bound of numbers is one
column.integer('A').min('0');
// @ts-expect-error values are those of the type
column.text('A').oneOf([1]);
// @ts-expect-error a pattern is no text
column.text('A').pattern('A');

// Parameters.
const yearly = definePipeline({
  name: 'yearly',
  schema: 'noaa',
  params: z.object({ year: z.coerce.number(), region: z.string().default('all') }),
  tables: ({ year, region }) => {
    holds<Equal<typeof year, number>>();
    holds<Equal<typeof region, string>>();
    return {
      station: {
        source: csv(`data/${year}.csv`),
        columns: { wban: column.text('WBAN') },
        primaryKey: ['wban'],
      },
      daily: { from: ['station'], transform: sqlFile('daily.sql') },
    };
  },
});
holds<Equal<Row<typeof yearly, 'station'>, { wban: string }>>();
holds<Equal<Row<typeof yearly, 'daily'>, Record<string, unknown>>>();
bindPipeline(yearly, { params: { year: '2011' }, directory: '/' });

// Schemas in which SQL finds names.
const searching = { name: 'searching', schema: 'noaa', tables: {} };
definePipeline({ ...searching, searchPath: ['public', 'extensions'] });
// @ts-expect-error a list, also of one
definePipeline({ ...searching, searchPath: 'public' });

// Columns made by a program.
const many = definePipeline({
  name: 'many',
  schema: 'many',
  tables: {
    wide: {
      source: csv('wide.csv'),
      columns: Object.fromEntries(['a', 'b'].map((name) => [name, column.text(name).nullable()])),
      primaryKey: ['a'],
    },
  },
});
holds<Equal<Row<typeof many, 'wide'>, { [name: string]: string | null }>>();

// What is refused.
// @ts-expect-error not a column type
column.strnig('A');
// @ts-expect-error text has no scale
column.text('A', { scale: 2 });
// @ts-expect-error varchar needs a length
column.varchar('A');
// @ts-expect-error integers have no decimal mark
column.integer('A', { decimal: ',' });
// @ts-expect-error only timestamptz has a zone
column.timestamp('A', { zone: 'UTC' });
// @ts-expect-error a number is not a text
column.text('A').default(1);
// @ts-expect-error the value is a number
column.integer('A').check((value: string) => value === '', 'never');
// @ts-expect-error the text before the type reads it
column.integer('A').map((text: number) => String(text));
// @ts-expect-error the schema reads numbers, the column is text
column.text('A').zod(z.number());
// @ts-expect-error the schema gives numbers, the column stores text
column.text('A').zod(z.string().transform(Number));
// @ts-expect-error filters look only at the fields that they name
when((fields) => fields.Other !== null, ['State']);
// @ts-expect-error misspelt option
csv('a.csv', { delimeter: ',' });
csv('a.csv', { quotes: 'lenient', lineEnd: 'crlf', trim: 'outside' });
// @ts-expect-error the kinds of line ends are known
csv('a.csv', { lineEnd: '\n' });
// @ts-expect-error trim is true, false or 'outside'
csv('a.csv', { trim: 'inside' });
// @ts-expect-error quotes are read strictly or leniently
csv('a.csv', { quotes: 'relaxed' });
// @ts-expect-error no such access method
index('a', { using: 'btre' });

const source = csv('a.csv');
const columns = { a: column.text('A'), c: column.text('C') };
const transform = sqlFile('a.sql');
definePipeline({
  name: 'tested',
  schema: 's',
  tables: {
    a: {
      source,
      columns,
      lineage: true,
      tests: [expect.unique(['a', 'c']), expect.rows({ min: 1 }), expect.notNull('_file')],
    },
    // @ts-expect-error no such column
    b: { source, columns, tests: [expect.unique('b')] },
    made: { from: ['a'], transform, tests: [expect.between('n', 1, null, { severity: 'warn', max: '1%' })] },
  },
});
// @ts-expect-error a table is fresh or not, none of its rows is
expect.fresh('at', '2 days', { max: 1 });
// @ts-expect-error an age has a unit
expect.fresh('at', '2');
// The compiler points at the line of the name that is wrong, and not at the call.
definePipeline({
  name: 'a',
  schema: 'a',
  tables: {
    typed: {
      source,
      columns,
      primaryKey: [
        'a',
        // @ts-expect-error the key is no column
        'b',
      ],
      indexes: [
        index('c'),
        // @ts-expect-error the index has no column
        index('b'),
        // @ts-expect-error one of its columns is none
        index(['a', 'b']),
        // @ts-expect-error what it includes is no column
        index('a', { include: ['b'] }),
      ],
    },
    derived: {
      from: [
        'typed',
        // @ts-expect-error no table of this pipeline
        'tiped',
      ],
      transform,
      row: z.object({ day: z.string() }),
      primaryKey: [
        // @ts-expect-error the key is not in the row
        'dy',
      ],
    },
    text: {
      source,
      staging: 'text',
      transform,
      row: z.object({ day: z.string() }),
      // @ts-expect-error the index is not of the row
      indexes: [index('dy')],
    },
  },
});
definePipeline({
  name: 'a',
  schema: 'a',
  params: z.object({ year: z.string() }),
  tables: ({ year }) => ({
    typed: {
      source: csv(year),
      columns,
      primaryKey: [
        // @ts-expect-error the key is no column
        'b',
      ],
    },
    derived: {
      from: [
        // @ts-expect-error no table of this pipeline
        'tiped',
      ],
      transform,
    },
  }),
});
// @ts-expect-error columns are the row of a typed table
definePipeline({ name: 'a', schema: 'a', tables: { a: { source, columns, row: z.object({}) } } });
// @ts-expect-error misspelt key
definePipeline({ name: 'a', schema: 'a', tables: { a: { source, columns, primarykey: ['a'] } } });
definePipeline({ name: 'a', schema: 'a', tables: { a: { source, columns, publish: 'append' } } });
definePipeline({
  name: 'a',
  schema: 'a',
  tables: { a: { source, columns, publish: { mode: 'append', changed: 'reload' } } },
});
definePipeline({
  name: 'a',
  schema: 'a',
  tables: {
    // @ts-expect-error misspelt choice
    a: { source, columns, publish: { mode: 'append', gone: 'x' } },
  },
});
definePipeline({
  name: 'a',
  schema: 'a',
  tables: {
    a: { source, columns },
    // @ts-expect-error a derived table is replaced
    b: { from: ['a'], transform: sqlFile('b.sql'), publish: 'append' },
  },
});
const text = { source, columns, staging: 'text', transform: sqlFile('a.sql') } as const;
// @ts-expect-error staging 'text' takes no columns
definePipeline({ name: 'a', schema: 'a', tables: { a: text } });
// @ts-expect-error not a share
definePipeline({ name: 'a', schema: 'a', tables: { a: { source, columns, rejectLimit: 'few' } } });
// @ts-expect-error not a share
definePipeline({ name: 'a', schema: 'a', tables: { a: { source, columns, guard: { shrinkMax: 20 } } } });
// @ts-expect-error true says nothing
definePipeline({ name: 'a', schema: 'a', tables: { a: { source, columns, guard: true } } });
// @ts-expect-error a derived table needs its SQL
definePipeline({ name: 'a', schema: 'a', tables: { a: { from: ['b'] } } });
// @ts-expect-error tables is no function without params
definePipeline({ name: 'a', schema: 'a', tables: () => ({ a: { source, columns } }) });
