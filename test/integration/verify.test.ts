// `etl verify`: a true production verifies, and every way in which rows can differ from their files is found, with its place.

import { rmSync, utimesSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  oneOf,
  sqlFile,
  verifyPipeline,
  type Pipeline,
  type VerifyOptions,
} from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import type { FileState } from '../../src/core/file-state.ts';
import { verifyOn } from '../../src/tools/verify/verify.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, run, settings, etl } = usePipelineRuns();

/** Values of every type, in spellings that the server writes otherwise. */
const values = [
  'id,name,amount,price,ratio,small,at,zoned,day,clock,flag,doc,key,tag',
  '1,"a ""quoted"", text",12.50,7,0.1,1e-7,2024-01-02T03:04:05.600,2024-01-02 03:04:05+02,2024-02-29,23:59:59,t,"{""a"": 1}",A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11,x',
  '02,"two',
  'lines",-0.00,1e3,1e22,3.4e38,1999-12-31 00:00:00,2024-07-01T00:00:00Z,0001-01-01,00:00,false,[],a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,é😀',
  '3,,NaN,123456789012345678901234567890.5,-0,NaN,infinity,-infinity,infinity,12:00:00.5,,,,',
  '4,NULL,0.05,,,,,,,,,,,',
];

const item = (change: object = {}): Pipeline =>
  definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      item: {
        source: csv('items/*.csv*', { nulls: ['', 'NULL'] }),
        columns: {
          id: column.integer('id'),
          name: column.text('name').nullable(),
          amount: column.numeric('amount', { precision: 6, scale: 2 }).nullable(),
          price: column.numeric('price').nullable(),
          ratio: column.double('ratio').nullable(),
          small: column.real('small').nullable(),
          at: column.timestamp('at').nullable(),
          zoned: column.timestamptz('zoned').nullable(),
          day: column.date('day').nullable(),
          clock: column.time('clock').nullable(),
          flag: column.boolean('flag').nullable(),
          doc: column.json('doc').nullable(),
          key: column.uuid('key').nullable(),
          tag: column.text('tag').nullable(),
        },
        rejectLimit: 10,
        guard: false,
        lineage: ['_file'],
        ...change,
      },
      reading: {
        source: csv('readings/*.csv'),
        columns: { station: column.text('station'), value: column.integer('value') },
        filter: oneOf('station', ['N', 'S']),
        primaryKey: ['station', 'value'],
        rejectLimit: 10,
        guard: false,
      },
      total: { from: ['reading'], transform: sqlFile('total.sql') },
    },
  });

const shop = item();

const verify = (pipeline: Pipeline, options: VerifyOptions = {}) =>
  verifyPipeline(pipeline, { ...settings(), ...options });

beforeAll(async () => {
  files.write('total.sql', 'select station, sum(value) as value from reading group by 1');
  files.write('items/a.csv', `${values.join('\n')}\n`);
  files.write(
    'items/b.csv.gz',
    gzipSync(
      `${values[0]}\n${values
        .slice(1)
        .join('\n')
        .replaceAll(/^0?(\d),/gm, '1$1,')}\n`,
    ),
  );
  // Faults of fields, of the record, and of bytes; csv-parse would stop at the quotes.
  files.write(
    'readings/1.csv',
    Buffer.concat([
      Buffer.from('station,value\nN,1\nN,x\nN,2,3\nS,"4"5\nW,6\n'),
      Buffer.from([0x4e, 0xff, 0x2c, 0x37, 10]),
      Buffer.from('S,8\nN,"9\n'),
    ]),
  );
  files.write('readings/2.csv', 'station,value\nN,10\nS,11\nS,12\n');
  await run(shop);
});

describe('a production', () => {
  it('that is true verifies: every type, rejects, filtered records, compressed files', async () => {
    const report = await verify(shop);
    expect(report).toMatchObject({
      pipeline: 'shop',
      outcome: 'same',
      tables: [
        {
          table: 'item',
          outcome: 'same',
          by: 'file',
          rows: 8,
          columns: 14,
          files: [
            { file: 'items/a.csv', records: 4, rows: 4, rejected: 0, filtered: 0 },
            { file: 'items/b.csv.gz', records: 4, rows: 4, rejected: 0, filtered: 0 },
          ],
          differences: [],
          notCompared: [],
        },
        {
          table: 'reading',
          by: 'table',
          rows: 5,
          files: [
            { records: 8, rows: 2, rejected: 5, filtered: 1 },
            { records: 3, rows: 3 },
          ],
        },
        {
          table: 'total',
          outcome: 'not compared',
          notCompared: [{ reason: 'SQL makes it from other tables' }],
        },
      ],
    });
  });

  const a = { file: 'items/a.csv' };
  const readings = { file: null };
  it.each([
    {
      name: 'a changed text',
      change: `update shop.item set name = 'b' where id = 1`,
      undo: `update shop.item set name = 'a "quoted", text' where id = 1`,
      differences: [{ ...a, column: 'name', what: 'checksum' }],
    },
    {
      name: 'a changed number',
      change: 'update shop.item set amount = 12.51 where id = 1',
      undo: 'update shop.item set amount = 12.5 where id = 1',
      differences: [{ ...a, column: 'amount', what: 'sum', expected: '12.55', found: '12.56' }],
    },
    {
      name: `a null that became ''`,
      change: `update shop.item set name = '' where id = 3`,
      undo: 'update shop.item set name = null where id = 3',
      differences: [
        { ...a, column: 'name', what: 'nulls', expected: '2', found: '1' },
        { ...a, column: 'name', what: 'checksum' },
      ],
    },
    {
      name: 'values that changed places',
      change: `update shop.item set ratio = case id when 1 then 1e22 else 0.1 end where id in (1, 2)`,
      undo: `update shop.item set ratio = case id when 1 then 0.1 else 1e22 end where id in (1, 2)`,
      differences: [{ ...a, column: null, what: 'pairing' }],
    },
    {
      name: 'a row of no file',
      change: `insert into shop.item (id, _file) values (99, 0)`,
      undo: `delete from shop.item where id = 99`,
      differences: [{ file: null, column: null, what: 'rows', found: '1 of other files, or of none' }],
    },
    {
      name: 'a row that was added',
      change: `insert into shop.reading values ('N', 5)`,
      undo: `delete from shop.reading where value = 5`,
      differences: [
        { ...readings, column: null, what: 'rows', expected: '5', found: '6' },
        { ...readings, column: 'station', what: 'checksum' },
        { ...readings, column: 'value', what: 'sum', expected: '42', found: '47' },
      ],
    },
    {
      name: 'a row that is missing',
      change: `delete from shop.reading where value = 11`,
      undo: `insert into shop.reading values ('S', 11)`,
      differences: [
        { ...readings, column: null, what: 'rows', expected: '5', found: '4' },
        { ...readings, column: 'station', what: 'checksum' },
        { ...readings, column: 'value', what: 'sum', expected: '42', found: '31' },
      ],
    },
    {
      name: 'a column that is missing',
      change: 'alter table shop.item rename tag to other',
      undo: 'alter table shop.item rename other to tag',
      differences: [{ file: null, column: 'tag', what: 'column' }],
    },
  ])('with $name differs', async ({ change, undo, differences }) => {
    await database.query(change);
    const { outcome, tables } = await verify(shop);
    await database.query(undo);
    expect(outcome).toBe('different');
    expect(tables.flatMap((table) => table.differences)).toMatchObject(differences);
  });
});

it('a correction counts as what became of it', async () => {
  const { out: text } = await etl('rejects', 'export', '--table', 'reading');
  const corrected = text.split('\r\n').map((line) => line.replace(/,,N,x$/, ',,N,70'));
  files.write('corrected.csv', corrected.filter((_, line) => line < 2).join('\r\n'));
  expect((await etl('rejects', 'replay', 'corrected.csv')).err).toBe('');
  await run(shop);
  const { tables } = await verify(shop, { tables: ['reading'] });
  expect(tables).toMatchObject([
    { outcome: 'same', rows: 6, files: [{ records: 8, rejected: 4, filtered: 1, rows: 3 }, { rows: 3 }] },
  ]);
});

describe('etl verify', () => {
  it('prints what was counted, and where files and production differ', async () => {
    files.write(
      'pipelines/shop.ts',
      `import { column, csv, definePipeline } from 'sluice';
      export default definePipeline({ name: 'town', schema: 'town', tables: { city: { source: csv('cities/*.csv'),
        columns: { name: column.text('name'), people: column.integer('people') }, lineage: ['_file'] } } });`,
    );
    files.write('cities/north.csv', 'name,people\nA,1\nB,2\n');
    files.write('cities/south.csv', 'name,people\nC,3\n');
    expect((await etl('run', 'town')).exit).toBe(0);
    expect(await etl('verify', 'town')).toEqual({
      exit: 0,
      out: expect.stringMatching(
        /^same {2}city {2}2 files {2}3 records {2}0 rejected {2}0 filtered {2}2 columns\n\n3 records counted in \d+\.\d s\n$/,
      ),
      err: '',
    });
    await database.query('update town.city set people = 4 where people = 3');
    const { rows } = await database.query('select max(id)::text as id from etl.run');
    const { exit, out: text, err: problem } = await etl('verify', rows[0]!['id'], '--json');
    expect(exit).toBe(4);
    expect(JSON.parse(text.split('\n')[0]!)).toMatchObject({
      outcome: 'different',
      tables: [{ differences: [{ file: 'cities/south.csv', column: 'people', expected: '3', found: '4' }] }],
    });
    expect(problem).toContain(
      'error ETL_VERIFY_DIFFERENT: files and production differ:\n  table city, cities/south.csv, column people: sum expected 3, found 4\n',
    );
  });

  it('an empty file is listed with what a run would say of it, and does not keep the others from being verified', async () => {
    files.write('cities/empty.csv', '');
    await database.query('update town.city set people = 3 where people = 4');
    expect((await etl('verify', 'town')).exit).toBe(0);
    const { exit, out: text } = await etl('files', 'town');
    expect([exit, text.split('\n').map((line) => line.replace(/ {2,}.*/, ''))]).toEqual([
      0,
      [
        'table',
        'city',
        'city',
        'city',
        '',
        'a run would refuse table city: cities/empty.csv is empty: it has neither a header nor a record',
        '',
      ],
    ]);
    const listed = JSON.parse((await etl('files', 'town', '--json')).out) as FileState[];
    expect(listed.map(({ file, state, problem }) => [file, state, problem === null])).toEqual([
      ['cities/empty.csv', 'new', false],
      ['cities/north.csv', 'in production', true],
      ['cities/south.csv', 'in production', true],
    ]);
    expect((await etl('run', 'town')).err).toContain(
      'error ETL_SOURCE_EMPTY: table city: cities/empty.csv is empty',
    );
    rmSync(`${files.directory}/cities/empty.csv`);
  });

  it('names files that have changed or are gone, and says if nothing was compared', async () => {
    files.write('cities/north.csv', 'name,people\nA,1\nB,20\n');
    rmSync(`${files.directory}/cities/south.csv`);
    await database.query('update town.city set people = 2 where people = 20');
    const { exit, out: text } = await etl('verify', 'town', '--json');
    expect([exit, JSON.parse(text).tables[0]]).toMatchObject([
      5,
      {
        outcome: 'not compared',
        notCompared: [
          {
            file: 'cities/north.csv',
            reason: expect.stringMatching(/^it has changed since run \d+ loaded it$/),
          },
          { file: 'cities/south.csv', reason: 'it is gone, or no longer listed' },
        ],
      },
    ]);
    expect((await etl('verify', 'town')).out).toMatch(/^nothing was compared, so/m);
  });
});

it('of one run opens the files of that run', async () => {
  const daily = definePipeline({
    name: 'daily',
    schema: 'daily',
    tables: {
      day: {
        source: csv('daily/*.csv.gz'),
        columns: { id: column.integer('id') },
        lineage: ['_file'],
        publish: 'append',
      },
    },
  });
  const write = (name: string, bytes: Buffer): void =>
    utimesSync(files.write(`daily/${name}.csv.gz`, bytes), 1, 1);
  const first = gzipSync('id\n1\n');
  write('1', first);
  await run(daily);
  write('2', gzipSync('id\n2\n'));
  const { runId } = await run(daily);
  // It has its size and its time, so that only who opens it finds out.
  write('1', first.fill(0, 3));
  expect(await verify(daily)).toMatchObject({ tables: [{ notCompared: [{ file: 'daily/1.csv.gz' }] }] });
  expect(await verify(daily, { run: runId })).toMatchObject({
    outcome: 'same',
    tables: [{ files: [{ file: 'daily/2.csv.gz' }], notCompared: [] }],
  });
});

it('a column that no run has brought yet is no difference; one that is lost is', async () => {
  const price = (more: object): Pipeline =>
    definePipeline({
      name: 'grown',
      schema: 'grown',
      tables: {
        price: { source: csv('grown/*.csv'), columns: { id: column.integer('id'), ...more }, guard: false },
        other: { source: csv('grown/*.csv'), columns: { id: column.integer('id') }, guard: false },
      },
    });
  files.write('grown/1.csv', 'id,price\n1,2\n');
  const [before, after] = [price({}), price({ price: column.integer('price') })];
  await run(before);
  expect(await verify(after)).toMatchObject({
    outcome: 'same',
    tables: [
      {
        outcome: 'not compared',
        differences: [],
        notCompared: [
          {
            file: 'grown/1.csv',
            reason: expect.stringMatching(/^the definition of the table.* has changed since run/),
          },
          {
            file: null,
            column: 'price',
            reason: expect.stringMatching(/^production does not have it yet: run/),
          },
          {},
        ],
      },
      { outcome: 'same', by: 'table' },
    ],
  });
  await run(after);
  expect(await verify(after)).toMatchObject({ outcome: 'same', tables: [{ columns: 2 }, { columns: 1 }] });
  await database.query('alter table grown.price drop column price');
  expect((await verify(after)).tables[0]).toMatchObject({
    outcome: 'different',
    differences: [{ column: 'price', what: 'column' }],
  });
});

it.each([
  { lineage: ['_file'], expected: { outcome: 'same', by: 'file', differences: [] } },
  {
    lineage: undefined,
    expected: {
      outcome: 'not compared',
      notCompared: [{ file: null, reason: expect.stringMatching(/^rows of pipeline south are in it, too/) }],
    },
  },
])(
  'rows that another pipeline has loaded are no difference (lineage: $lineage)',
  async ({ lineage, expected }) => {
    const from = (name: string): Pipeline =>
      definePipeline({
        name,
        schema: 'shared',
        tables: {
          sale: {
            source: csv(`${name}/*.csv`),
            columns: { id: column.integer('id') },
            publish: 'append',
            lineage: lineage as ['_file'],
          },
        },
      });
    await database.query('drop schema if exists shared cascade');
    for (const [at, name] of ['north', 'south'].entries()) {
      files.write(`${name}/1.csv`, `id\n${at}\n`);
      await run(from(name));
    }
    expect((await verify(from('north'))).tables).toMatchObject([expected]);
    await database.query('insert into shared.sale select * from shared.sale where id = 0');
    expect((await verify(from('north'))).outcome).toBe(lineage === undefined ? 'not compared' : 'different');
  },
);

describe('rows that are not those of all records', () => {
  const price = (publish: object): Pipeline =>
    definePipeline({
      name: 'prices',
      schema: 'prices',
      tables: {
        price: {
          source: csv('prices/*.csv'),
          columns: { item: column.text('item'), price: column.numeric('price') },
          primaryKey: ['item'],
          publish: publish as { mode: 'merge' },
          guard: false,
        },
      },
    });

  it('are compared while no row has taken the place of another, and only counted after that', async () => {
    const pipeline = price({ mode: 'merge' });
    files.write('prices/1.csv', 'item,price\na,1\nb,2\n');
    await run(pipeline);
    expect(await verify(pipeline)).toMatchObject({ outcome: 'same', tables: [{ by: 'table', rows: 2 }] });
    files.write('prices/2.csv', 'item,price\nb,3\nc,4\n');
    await run(pipeline);
    expect((await verify(pipeline)).tables).toMatchObject([
      {
        outcome: 'not compared',
        rows: 3,
        files: [{ records: 2 }, { records: 2 }],
        notCompared: [
          { file: null, reason: 'rows are merged by their key: 4 records were copied, and 3 rows are there' },
        ],
      },
    ]);
    await database.query(`insert into prices.price values ('by hand', 0)`);
    expect(await verify(pipeline)).toMatchObject({ outcome: 'not compared', tables: [{ rows: 4 }] });
  });

  it('are no error: there is nothing to verify before a run', async () => {
    const other = definePipeline({
      name: 'never',
      schema: 'never',
      tables: { t: { source: csv('prices/*.csv'), columns: { item: column.text('item') } } },
    });
    expect(await failureOf(verify(other))).toMatchObject({ code: 'ETL_VERIFY_NOTHING', exit: 5 });
  });
});

it('what is published while it is verified is verified with its files', async () => {
  const pipeline = definePipeline({
    name: 'moving',
    schema: 'moving',
    tables: { t: { source: csv('moving/*.csv'), columns: { n: column.integer('n') } } },
  });
  files.write('moving/1.csv', 'n\n1\n');
  await run(pipeline);
  const report = await withClient(addressFromUrl(database.url), (client) => {
    const query = client.query.bind(client);
    let isPublished = false;
    Object.assign(client, {
      query: async (...args: Parameters<typeof query>) => {
        // The files are known, and the rows are read next.
        if (!isPublished && args[0].includes('set transaction read only')) {
          isPublished = true;
          files.write('moving/2.csv', 'n\n2\n');
          await run(pipeline);
        }
        return query(...args);
      },
    });
    return verifyOn(pipeline, { workingDirectory: files.directory }, client);
  });
  expect(report).toMatchObject({ outcome: 'same', tables: [{ rows: 2, files: [{ rows: 1 }, { rows: 1 }] }] });
});
