// A column declared narrower than that of an existing table: the table's type is kept, and every value arrives; or an error with the declaration that fits.

import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  hash,
  list,
  range,
  sqlFile,
  verifyPipeline,
  type Pipeline,
} from '../../src/index.ts';
import { holds, valueAs } from '../../src/publish/alter/widening.ts';
import { catalogueOf } from '../helpers/catalogue.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { database, files, notices, rowsOf, run, settings, startOver } = usePipelineRuns();

beforeEach(async () => {
  await startOver('geo');
  await database.query('create schema geo');
});

const write = (name: string, ...lines: string[]): string =>
  files.write(`in/${name}`, [...lines, ''].join('\n'));

/** Values at the edges of each type, as the server writes them. */
const edges: Readonly<Record<string, readonly string[]>> = {
  smallint: ['-32768', '32767', '0'],
  integer: ['-2147483648', '2147483647'],
  bigint: ['-9223372036854775808', '9223372036854775807'],
  real: ['0.1', '-3.4028235e+38', '3.4028235e+38', '1e-45', 'Infinity', '-Infinity', 'NaN', '16777217'],
  'double precision': ['0.1', '-1.7976931348623157e+308', '5e-324', 'Infinity', 'NaN', '9007199254740993'],
  numeric: ['123456789012345678901234567890.000000001', 'NaN'],
  'numeric(4,1)': ['-999.9', '999.9', '0.1', 'NaN'],
  'numeric(6,2)': ['-9999.99', '9999.99', '0.01'],
  'numeric(5,0)': ['99999'],
  'numeric(21,2)': ['9999999999999999999.99'],
  'character varying(4)': ['abcd', 'a  ', '', 'üü€😀'],
  'character varying(10)': ['abcdefghij'],
  text: ['a', ' \ta ', 'ü'.repeat(5_000)],
  'character(3)': ['abc', 'x'],
  'character(5)': ['abcde'],
  'bit varying(4)': ['1111', '0'],
  'bit varying(8)': ['11111111'],
  date: ['0001-01-01', '9999-12-31', '2024-02-29', 'infinity', '-infinity'],
  'timestamp(3) without time zone': ['9999-12-31 23:59:59.999', '0001-01-01 00:00:00', 'infinity'],
  'timestamp without time zone': ['9999-12-31 23:59:59.999999', '-infinity'],
  'timestamp(3) with time zone': ['9999-12-31 23:59:59.999+00'],
  'timestamp with time zone': ['9999-12-31 23:59:59.999999+00'],
  'time(0) without time zone': ['24:00:00', '00:00:00'],
  'time without time zone': ['23:59:59.999999'],
  boolean: ['true', 'false'],
  uuid: ['6b9ef8f4-6a7d-4f8a-8f5f-0d8f4f5ff0aa'],
  json: ['{"b": 1,  "a": 2, "a": 3}'],
  jsonb: ['{"a": 1}'],
};
const types = Object.keys(edges);
const pairs = types.flatMap((from) => types.flatMap((to) => (from === to ? [] : [{ from, to }])));

describe('the table of types', () => {
  it('says that a type holds another only if the values at its edges come back as they were', async () => {
    const changed: string[] = [];
    const held = pairs.filter(({ from, to }) => holds(from, to));
    for (const { from, to } of held) {
      const { rows } = await database.query(
        `select v from unnest($1::text[]) as t (given), cast(given as ${from}) as v
          where (${valueAs({ name: 'v', from, to })})::${to}::${from}::text is distinct from v::text`,
        [edges[from]!],
      );
      if (rows.length > 0) changed.push(`${from} in ${to}`);
    }
    expect(changed).toEqual([]);
    expect(held.length).toBe(37);
  });
});

/** What a file declares, what the table has, two texts of the file, and what the table then shows. */
const narrow = [
  { name: 'a', declared: column.smallint('a'), has: 'integer', texts: ['-32768', '32767'] },
  { name: 'b', declared: column.integer('b'), has: 'bigint', texts: ['-2147483648', '2147483647'] },
  { name: 'c', declared: column.bigint('c'), has: 'numeric', texts: ['-9223372036854775808', '7'] },
  {
    name: 'd',
    declared: column.numeric('d', { precision: 4, scale: 1 }),
    has: 'numeric(6,2)',
    texts: ['-999.9', '0.1'],
    shown: ['-999.90', '0.10'],
  },
  { name: 'e', declared: column.real('e'), has: 'double precision', texts: ['0.1', '3.4028235e+38'] },
  { name: 'f', declared: column.varchar('f', { length: 4 }), has: 'text', texts: ['a  ', 'üü€😀'] },
  { name: 'g', declared: column.varchar('g', { length: 4 }), has: 'varchar(9)', texts: ['abcd', 'x'] },
  { name: 'h', declared: column.of('char(3)', 'h'), has: 'text', texts: ['abc', 'x'] },
  {
    name: 'i',
    declared: column.date('i'),
    has: 'timestamp(3)',
    texts: ['9999-12-31', '0001-01-01'],
    shown: ['9999-12-31 00:00:00', '0001-01-01 00:00:00'],
  },
  { name: 'j', declared: column.of('time(0)', 'j'), has: 'time', texts: ['23:59:59', '00:00:00'] },
  { name: 'k', declared: column.smallint('k'), has: 'numeric(5,0)', texts: ['-32768', '0'] },
  { name: 'l', declared: column.of('bit varying(3)', 'l'), has: 'bit varying', texts: ['101', '1'] },
] as const;
const names = narrow.map(({ name }) => name);
const header = ['id', ...names].join(',');
const line = (id: number, at: 0 | 1): string => [id, ...narrow.map(({ texts }) => texts[at])].join(',');
const shownAt = (at: 0 | 1) =>
  Object.fromEntries(narrow.map((one) => [one.name, ('shown' in one ? one.shown : one.texts)[at]]));
const columns = Object.fromEntries([
  ['id', column.smallint('id')],
  ...narrow.map(({ name, declared }) => [name, declared] as const),
]);
const ddl = `id integer not null, ${narrow.map(({ name, has }) => `${name} ${has} not null`).join(', ')}`;
const shown = async (where = 'true') =>
  rowsOf(
    `select id, ${names.map((name) => `${name}::text`).join(', ')} from geo.t where ${where} order by id`,
  );

const pipeline = (change: object): Pipeline =>
  definePipeline({
    name: 'narrow',
    schema: 'geo',
    tables: {
      t: { source: csv('in/*.csv'), columns, primaryKey: ['id'], ...change } as never,
    },
  });

files.write(
  'made.sql',
  `select id::smallint, ${names
    .map(
      (name, at) =>
        `${name}::${['smallint', 'integer', 'bigint', 'numeric(4,1)', 'real', 'varchar(4)', 'varchar(4)', 'char(3)', 'date', 'time(0)', 'smallint', 'varbit(3)'][at]} as ${name}`,
    )
    .join(', ')} from t_staging`,
);
const text = { staging: 'text', columns: undefined, transform: sqlFile('made.sql') };
const more =
  "create view geo.v as select a, b from geo.t; create index t_d on geo.t (d); comment on column geo.t.a is 'x'";

interface Mode {
  readonly name: string;
  readonly change: object;
  /** After the columns. */
  readonly ddl?: string;
  readonly also?: string;
  /** The rows after the second file; default: of both files. */
  readonly replaces?: true;
  readonly strategy?: string;
}

const modes: readonly Mode[] = [
  { name: 'append', change: { publish: 'append' } },
  { name: 'append, with every type', change: { publish: 'append', evolve: 'keep' } },
  { name: 'append of text', change: { publish: 'append', ...text } },
  { name: 'merge', change: { publish: 'merge' } },
  { name: 'merge that rejects', change: { publish: { mode: 'merge', twice: 'reject' } } },
  { name: 'merge of text', change: { publish: 'merge', ...text } },
  { name: 'replace', change: {}, replaces: true },
  { name: 'replace of a table with a view', change: {}, also: more, replaces: true },
  { name: 'replace of text', change: text, replaces: true },
  { name: 'replace without staging', change: { staging: 'none' }, replaces: true },
  {
    name: 'partitions by range',
    change: { partitionBy: range('i', 'year'), primaryKey: undefined },
    ddl: ') partition by range (i',
    replaces: true,
  },
  {
    name: 'partitions by list',
    change: { partitionBy: list('d'), primaryKey: undefined },
    ddl: ') partition by list (d',
    replaces: true,
  },
  {
    name: 'partitions by hash, from text',
    change: { partitionBy: hash('id', 2), ...text },
    ddl: ', primary key (id)) partition by hash (id',
    replaces: true,
  },
  {
    name: 'append to partitions',
    change: { publish: 'append', partitionBy: list('d'), primaryKey: undefined },
    ddl: ') partition by list (d',
  },
  {
    name: 'partitions that are touched',
    change: {
      publish: { mode: 'replace', only: 'touched' },
      partitionBy: list('d'),
      primaryKey: undefined,
    },
    ddl: ', _file bigint) partition by list (d',
  },
];

describe('a column declared narrower', () => {
  it.each(modes.map((one) => [one.name, one] as const))('%s', async (_, mode) => {
    const key = mode.ddl === undefined ? ', primary key (id)' : mode.ddl;
    await database.query(`create table geo.t (${ddl}${key}); ${mode.also ?? ''}`);
    const columnsBefore = (await catalogueOf(database)).filter((entry) => !/partition|_file/.test(entry));
    const load = pipeline(mode.change);
    write('1.csv', header, line(1, 0));
    await run(load);
    const first = { id: 1, ...shownAt(0) };
    const second = { id: 2, ...shownAt(1) };
    expect(await shown()).toEqual([first]);
    expect(notices.join('\n')).toMatch(
      /geo\.t keeps its types, .*id smallint → integer, a smallint → integer/,
    );
    if (mode.replaces) files.write('in/1.csv', [header, line(1, 0), line(2, 1), ''].join('\n'));
    else write('2.csv', header, line(2, 1));
    await run(load);
    expect(await shown()).toEqual([first, second]);
    const after = await catalogueOf(database);
    for (const entry of columnsBefore) expect(after).toContain(entry);
    expect(await run(load)).toMatchObject({ outcome: 'unchanged' });
  });
});

it('the values of narrower columns are verified', async () => {
  await database.query(
    'create table geo.t (id integer primary key, price numeric(6,2), day timestamp, ratio double precision, name text)',
  );
  write('1.csv', 'id,price,day,ratio,name', '1,1.5,2024-01-01,0.1,a ');
  const load = pipeline({
    publish: 'append',
    columns: {
      id: column.smallint('id'),
      price: column.numeric('price', { precision: 4, scale: 1 }),
      day: column.date('day'),
      ratio: column.real('ratio'),
      name: column.varchar('name', { length: 3 }),
    },
  });
  await run(load);
  expect((await verifyPipeline(load, settings())).tables).toMatchObject([
    { outcome: 'same', differences: [] },
  ]);
  await database.query("update geo.t set day = '2024-01-02'");
  expect((await verifyPipeline(load, settings())).tables).toMatchObject([{ outcome: 'different' }]);
});

describe('a table that runs made', () => {
  const made = (given: object, publish: object): Pipeline =>
    definePipeline({
      name: 'made',
      schema: 'geo',
      tables: { t: { source: csv('in/*.csv'), columns: given, primaryKey: ['id'], publish } as never },
    });
  const wide = {
    id: column.integer('id'),
    price: column.numeric('price', { precision: 6, scale: 2 }).nullable(),
    day: column.timestamp('day', { format: ['YYYY-MM-DD'] }),
  };
  const narrower = {
    id: column.smallint('id'),
    price: column.numeric('price', { precision: 4, scale: 1 }).nullable(),
    day: column.date('day'),
  };
  const rows = () => rowsOf('select r::text as row from geo.t r order by r');

  it('keeps its types; a version of the same price is no new one, and a merge changes nothing', async () => {
    for (const publish of [{ mode: 'history', at: 'day' }, { mode: 'merge' }]) {
      await startOver('geo');
      write('1.csv', 'id,price,day', '1,1.5,2024-01-01', '2,,2024-01-01');
      await run(made(wide, publish));
      const before = await rows();
      write('2.csv', 'id,price,day', publish.mode === 'merge' ? '1,1.5,2024-01-01' : '1,1.5,2024-01-02');
      const { tables } = await run(made(narrower, publish));
      expect(tables[0]).toMatchObject({ changes: { inserted: 0, updated: 0, deleted: 0 } });
      expect(notices.join()).toMatch(/geo\.t keeps its types, .*price numeric\(4,1\) → numeric\(6,2\)/);
      expect(await rows()).toEqual(before);
    }
  });

  it('gets the declared types if it is replaced', async () => {
    write('1.csv', 'id,price,day', '1,1.5,2024-01-01');
    const replaced = (given: object): Pipeline => made(given, undefined as never);
    await run(replaced(wide));
    await run(replaced(narrower));
    expect(await rows()).toEqual([{ row: '(1,1.5,2024-01-01)' }]);
    expect(notices).toEqual([]);
  });
});

/** What a file declares, what the table has, and the declaration that the error gives. */
const unfit = [
  { declared: column.integer('Id'), has: 'smallint', fits: "v: column.smallint('Id')" },
  { declared: column.bigint('Id').nullable(), has: 'integer', fits: "v: column.integer('Id').nullable()" },
  {
    declared: column.numeric('Id', { precision: 6, scale: 2, thousands: ',' }),
    has: 'numeric(6,1)',
    fits: "v: column.numeric('Id', { thousands: ',', precision: 6, scale: 1 })",
  },
  { declared: column.double('Id'), has: 'numeric', fits: "v: column.numeric('Id')" },
  {
    declared: column.text(['Id', { from: ['b', 'c'] }]),
    has: 'varchar(3)',
    fits: "v: column.varchar(['Id', { from: ['b', 'c'] }], { length: 3 })",
  },
  { declared: column.timestamp(1), has: 'timestamptz', fits: "v: column.timestamptz(1, { zone: 'UTC' })" },
  {
    declared: column.timestamptz('Id', { zone: 'UTC' }),
    has: 'timestamp',
    fits: "v: column.timestamp('Id')",
  },
  { declared: column.text('Id'), has: 'geo.mood', fits: "v: column.of('geo.mood', 'Id')" },
] as const;

const otherModes = [
  { publish: 'append' },
  { publish: 'append', evolve: 'retype' },
  { publish: 'append', evolve: 'keep' },
  { publish: 'merge' },
  {},
  { staging: 'none' },
  { partitionBy: hash('k', 2) },
];

describe('a column that may lose values', () => {
  it.each(otherModes.map((change) => [JSON.stringify(change), change] as const))(
    'is refused with the declaration that fits, and no statement for the table: %s',
    async (_, change) => {
      const divided = 'partitionBy' in change ? ' partition by hash (k)' : '';
      await database.query(
        `create type geo.mood as enum ('sad'); create table geo.t (k integer primary key${unfit.map(({ has }, at) => `, c${at} ${has}`).join('')})${divided}`,
      );
      write('1.csv', 'k,Id,b', '1,1,1');
      const given = Object.fromEntries(unfit.map(({ declared }, at) => [`c${at}`, declared]));
      const { message, hint } = await failureOf(
        run(pipeline({ columns: { k: column.integer('k'), ...given }, primaryKey: ['k'], ...change })),
      );
      expect(message).toContain('c2 numeric(6,2)');
      // With 'retype', the run changes the other columns.
      const refused = [...unfit.entries()].filter(([at]) => message.includes(`c${at} `));
      for (const [at, { fits }] of refused) expect(hint).toContain(fits.replace('v:', `c${at}:`));
      expect(hint).not.toMatch(/alter|drop|evolve|full-refresh|schema|using/i);
    },
  );

  const others = [
    {
      name: 'a column that the table does not have',
      change: {
        publish: 'append',
        columns: { id: column.integer('id'), note: column.text('note').nullable() },
      },
      hint: 'Leave out note: no run made the table, so none changes it.',
    },
    {
      name: 'a column that needs a value',
      change: { publish: 'merge', columns: { id: column.integer('id') } },
      ddl: ', day date not null',
      hint: "Declare what the table has: `day: column.date('day')`.",
    },
    {
      name: 'a column that would be lost',
      change: { columns: { id: column.integer('id') } },
      ddl: ', day date',
      hint: "Declare what the table has: `day: column.date('day').nullable()`.",
    },
    {
      name: 'a column that would be lost, with a view',
      change: { columns: { id: column.integer('id') } },
      ddl: ', day date',
      also: 'create view geo.v as select * from geo.t',
      hint: "Declare what the table has: `day: column.date('day').nullable()`.",
    },
    {
      name: 'a type of SQL',
      change: { publish: 'append', ...text, transform: sqlFile('id.sql') },
      ddl: ', n smallint',
      hint: 'Select in the SQL what the table has: "n"::smallint.',
    },
    {
      name: 'another key',
      change: {
        publish: 'merge',
        evolve: 'keep',
        columns: { id: column.integer('id'), n: column.integer('n') },
        primaryKey: ['n'],
      },
      ddl: ', n integer',
      hint: "Declare a key that it has: `primaryKey: ['id']`.",
    },
    {
      name: 'partitions',
      change: { columns: { id: column.integer('id') }, partitionBy: list('id'), primaryKey: undefined },
      hint: 'Remove partitionBy.',
    },
  ];
  files.write('id.sql', 'select id::integer, 7 as n from t_staging');

  it.each(others.map((one) => [one.name, one] as const))('the same of %s', async (_, one) => {
    await database.query(`create table geo.t (id integer primary key${one.ddl ?? ''}); ${one.also ?? ''}`);
    write('1.csv', 'id,n,note', '1,2,x');
    const { hint } = await failureOf(run(pipeline(one.change)));
    expect(hint).toBe(`Production tables are unchanged. ${one.hint}`);
  });
});
