// publish: 'append': each file once, beside what is in production; and what is done about files that change or vanish.

import { rmSync, utimesSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  index,
  listFiles,
  sqlFile,
  when,
  type Pipeline,
  type RunEvent,
  type RunResult,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useShop } from '../helpers/shop.ts';
import { withPg } from '../helpers/own-server.ts';

/** The sale `1:5` is number 1, of 5 pieces. */
const {
  files,
  database,
  notices,
  rowsOf,
  textOf,
  settings,
  etl,
  run: runIt,
  write,
  remove,
  oid,
  sales: shop,
} = useShop({
  header: 'id,pieces',
  total: 'select sum(pieces)::bigint as pieces, count(*) as sales from sale',
});
const columns = { id: column.integer('id'), pieces: column.integer('pieces') };
const pipeline = (publish: unknown = 'append', change: object = {}, hooks: object = {}): Pipeline =>
  shop({ columns, primaryKey: ['id'], publish, ...change }, {}, { hooks });

/** One bad file stops the run. */
const stopping = { source: csv('in/*.csv', { onBadFile: 'stop' }) };

const run = (given = pipeline(), options: object = {}) => runIt(given, options);
const sales = () => textOf(`select string_agg(id || ':' || pieces, ' ' order by id) from shop.sale`);
const total = async () => (await rowsOf('select pieces::int, sales::int from shop.total'))[0];
const states = async () =>
  (await rowsOf(`select name, run_id::int as run, rows::int from etl.published_file order by name`)).map(
    ({ name, run: id, rows }) => `${String(name)} ${String(id)} ${String(rows)}`,
  );

beforeEach(() => void write('01.csv', '1:5', '2:6'));

describe('append', () => {
  it('loads each file once, also one that comes late, into the table that is there', async () => {
    expect(await run()).toMatchObject({ tables: [{ table: 'sale', strategy: 'swap', rows: 2 }, {}] });
    const made = await oid();
    await database.query(
      `create view shop.v as select * from shop.sale; grant select on shop.sale to pg_monitor`,
    );
    write('02.csv', '3:7');
    write('00.csv', '4:8', '5:9');
    const second = await run();
    expect(second).toMatchObject({
      outcome: 'published',
      tables: [{ table: 'sale', strategy: 'append', files: 2, copied: 3, rowsBefore: 2, rows: 5 }, {}],
    });
    expect([await sales(), await total(), await oid()]).toEqual([
      '1:5 2:6 3:7 4:8 5:9',
      { pieces: 35, sales: 5 },
      made,
    ]);
    expect(await states()).toEqual(['in/00.csv 2 2', 'in/01.csv 1 2', 'in/02.csv 2 1']);
    expect(await run()).toMatchObject({ outcome: 'unchanged', runId: second.runId });
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
  });

  it('knows files again by size and time, unless they were changed just before they were seen', async () => {
    const at = (name: string, seconds: number) => {
      const time = Date.now() / 1000 - seconds;
      utimesSync(`${files.directory}/in/${name}`, time, time);
      return () => utimesSync(`${files.directory}/in/${name}`, time, time);
    };
    write('02.csv', '3:7');
    const settled = at('01.csv', 60);
    const recent = at('02.csv', -60);
    await run();
    // Who changes a file while it is loaded has changed it since it was seen.
    const seen = `select every(seen_at = started_at) as early from etl.published_file p join etl.run r on r.id = p.run_id`;
    expect(await rowsOf(seen)).toEqual([{ early: true }]);
    write('01.csv', '1:6', '2:7');
    settled();
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
    write('02.csv', '3:8');
    recent();
    expect(await failureOf(run(pipeline('append', stopping)))).toMatchObject({
      code: 'ETL_FILE_CHANGED',
      details: { files: '1 file: in/02.csv' },
    });
  });

  it('goes on with files that are gone, and with a table that others have filled', async () => {
    await database.query(
      `create schema shop; create table shop.sale (id integer primary key, pieces integer, note text);
       insert into shop.sale values (9, 9, 'by hand')`,
    );
    expect(await run()).toMatchObject({ tables: [{ strategy: 'append', rowsBefore: 1, rows: 3 }, {}] });
    write('02.csv', '3:7');
    remove('01.csv');
    expect(await run()).toMatchObject({ tables: [{ strategy: 'append', rows: 4 }, {}] });
    expect(await rowsOf('select * from shop.sale where note is not null')).toEqual([
      { id: 9, pieces: 9, note: 'by hand' },
    ]);
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
  });

  it('loads all files again when the table was dropped or emptied', async () => {
    await run();
    write('02.csv', '3:7');
    await run();
    await database.query('truncate shop.sale');
    expect(await run()).toMatchObject({ tables: [{ strategy: 'swap', files: 2, rows: 3 }, {}] });
    await database.query('drop table shop.sale');
    expect(await run()).toMatchObject({ tables: [{ strategy: 'swap', files: 2, rows: 3 }, {}] });
    expect(await states()).toEqual(['in/01.csv 4 2', 'in/02.csv 4 1']);
  });

  it('puts many rows in the order of their key, unless they nearly have it', async () => {
    await run();
    const descents = async (from: number) =>
      (
        await rowsOf(`select count(*) filter (where id < before)::int as n from (
          select id, lag(id) over (order by ctid) as before from shop.sale where id >= ${from}) s`)
      )[0]!['n'];
    const many = 50_000;
    // 7919 is a prime, so that each number comes once.
    write('02.csv', ...Array.from({ length: many }, (_, at) => `${100_000 + ((at * 7919) % many)}:1`));
    expect(await run()).toMatchObject({ tables: [{ rows: 2 + many }, {}] });
    expect(await descents(100_000)).toBe(0);
    // Every twentieth comes one place too early.
    write('03.csv', ...Array.from({ length: many }, (_, at) => `${200_000 + (at % 20 > 1 ? at : at ^ 1)}:1`));
    await run();
    expect(await descents(200_000)).toBe(many / 20);
  });

  it('changes keys and indexes to those of the declaration', async () => {
    await run();
    write('02.csv', '3:7');
    await run(pipeline('append', { indexes: [index('pieces')] }));
    expect(notices).toContain(
      'shop.sale: writers wait, and readers may also wait: index sale_pieces_idx is created',
    );
    expect(await rowsOf(`select indexname from pg_indexes where tablename = 'sale' order by 1`)).toEqual([
      { indexname: 'sale_pieces_idx' },
      { indexname: 'sale_pkey' },
    ]);
  });

  it('takes the rows that SQL makes of text', async () => {
    files.write('sale.sql', 'select id::integer, pieces::integer * 2 as pieces from sale_staging');
    const text = pipeline('append', { columns: undefined, staging: 'text', transform: sqlFile('sale.sql') });
    await run(text);
    write('02.csv', '3:7');
    expect(await run(text)).toMatchObject({ tables: [{ strategy: 'append', rowsBefore: 2, rows: 3 }, {}] });
    expect([await sales(), await total()]).toEqual(['1:10 2:12 3:14', { pieces: 36, sales: 3 }]);
    expect(await run(text)).toMatchObject({ outcome: 'unchanged' });
  });
});

it('another pipeline may append other files to the table, but not the same', async () => {
  await run();
  const other = (location: string, name = 'renamed'): Pipeline =>
    definePipeline({
      name,
      schema: 'shop',
      tables: { sale: { source: csv(location), columns, primaryKey: ['id'], publish: 'append' } },
    });
  const before = await sales();
  write('02.csv', '3:7');
  const refused = await failureOf(run(other('in/*.csv')));
  expect(refused).toMatchObject({
    code: 'ETL_FILE_TWICE',
    details: { file: 'in/01.csv', pipeline: 'sales' },
  });
  expect(await sales()).toBe(before);
  await run(other('in/02.csv'));
  expect(await sales()).toBe(`${before} 3:7`);
  expect(await failureOf(run())).toMatchObject({ code: 'ETL_FILE_TWICE', details: { pipeline: 'renamed' } });
  expect(await run(other('in/*.csv', 'later'), { fullRefresh: true, allowShrink: ['sale'] })).toMatchObject({
    outcome: 'published',
  });
  expect(notices).toContain(
    'shop.sale: pipeline renamed published it last, and all its rows are replaced by those of later; two pipelines that replace one table undo each other',
  );
  expect(await sales()).toBe(`${before} 3:7`);
});

it('pipelines that append to one table at the same time count the rows of each other', async () => {
  const from = (name: string): Pipeline =>
    definePipeline({
      name,
      schema: 'shop',
      tables: { sale: { source: csv(`in/${name}*.csv`), columns, primaryKey: ['id'], publish: 'append' } },
    });
  const names = ['one', 'two'];
  for (const [at, name] of names.entries()) write(`${name}1.csv`, `${at}0:1`);
  for (const name of names) await run(from(name));
  for (const [at, name] of names.entries()) write(`${name}2.csv`, `${at}1:1`, `${at}2:1`);
  const results = await withPg(database.url, async (holder) => {
    await holder.query('begin; lock table shop.sale in share mode');
    const runs: Promise<RunResult>[] = [];
    const waiting = names.map(
      (name) =>
        new Promise<void>((resolve) => {
          const onEvent = (event: RunEvent): void => {
            if (event.type === 'notice' && event.message.startsWith('publishing waits for')) resolve();
          };
          runs.push(run(from(name), { onEvent }));
        }),
    );
    await Promise.race([Promise.all(waiting), Promise.all(runs)]);
    await holder.query('commit');
    return Promise.all(runs);
  });
  const rows = results.map(({ tables }) => [tables[0]!.rowsBefore, tables[0]!.rows]);
  expect(rows.toSorted((one, other) => one[1]! - other[1]!)).toEqual([
    [2, 4],
    [4, 6],
  ]);
});

it('the plan says which files would be loaded', async () => {
  files.write(
    'sales.ts',
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: 'sales', schema: 'shop', tables: { sale: {
      source: csv('in/*.csv'), columns: { id: column.integer('id') }, publish: 'append' } } });`,
  );
  const printed = async (...args: string[]): Promise<string> => {
    const { exit, out, err } = await etl(...args, `${files.directory}/sales.ts`);
    expect(exit, err).toBe(0);
    return out;
  };
  expect(await printed('plan')).toMatch(
    /files +all of 1 file to load, 18 B\n +new +1: in\/01\.csv[^]*Everything would be loaded/,
  );
  await printed('run', '--quiet');
  write('02.csv', '3:7');
  const told = await printed('plan');
  expect(told).toMatch(/files +1 of 2 files to load, 14 B; 1 as in production\n +new +1: in\/02\.csv/);
  expect(told).toMatch(/Files that are new or changed would be loaded/);
  expect(await printed('files')).toMatch(
    /sale +in\/01\.csv +in production +1 +2 +\d{4}-.*\nsale +in\/02\.csv +new\n$/,
  );
  expect(JSON.parse(await printed('files', '--json'))).toMatchObject([
    { state: 'in production' },
    { state: 'new', run: null },
  ]);
});

describe('a file that changed', () => {
  it("is an error under changed: 'error' and onBadFile: 'stop', before anything is loaded", async () => {
    await run();
    write('01.csv', '1:50');
    write('02.csv', '3:7');
    const error = await failureOf(run(pipeline('append', stopping)));
    expect(error).toMatchObject({
      code: 'ETL_FILE_CHANGED',
      details: { table: 'sale', files: '1 file: in/01.csv' },
      hint: expect.stringContaining('after one run with --full-refresh'),
    });
    expect([await sales(), (await rowsOf('select max(id)::int as id from etl.run'))[0]]).toEqual([
      '1:5 2:6',
      { id: 1 },
    ]);
  });

  it("is left as it is under changed: 'ignore', and said to be", async () => {
    const ignoring = pipeline({ mode: 'append', changed: 'ignore' });
    await run(ignoring);
    write('01.csv', '1:50');
    expect(await run(ignoring)).toMatchObject({ outcome: 'unchanged' });
    expect(notices).toEqual([
      'sale: files have changed since they were loaded, and their rows are kept as they are: 1 file: in/01.csv',
    ]);
    write('02.csv', '3:7');
    await run(ignoring);
    expect(await sales()).toBe('1:5 2:6 3:7');
  });

  it("takes the place of its rows under changed: 'reload', and what refers to them stays", async () => {
    const reloading = pipeline({ mode: 'append', changed: 'reload' });
    write('02.csv', '3:7');
    await run(reloading);
    await database.query(
      'create table shop.paid (sale integer references shop.sale); insert into shop.paid values (1)',
    );
    write('01.csv', '1:50', '4:8');
    expect(await run(reloading)).toMatchObject({
      tables: [{ strategy: 'append', files: 1, rowsBefore: 3, rows: 3 }, {}],
    });
    expect([await sales(), await total()]).toEqual(['1:50 3:7 4:8', { pieces: 65, sales: 3 }]);
    expect(await states()).toEqual(['in/01.csv 2 2', 'in/02.csv 1 1']);
    write('01.csv', '4:8');
    expect(await failureOf(run(reloading))).toMatchObject({ code: 'ETL_PUBLISH_REFUSED' });
    expect(await sales()).toBe('1:50 3:7 4:8');
    await database.query('drop table shop.paid');
    await run(reloading);
    expect(await sales()).toBe('3:7 4:8');
  });
});

it("gone: 'unload' takes the rows of files that vanished away", async () => {
  const unloading = pipeline({ mode: 'append', gone: 'unload' });
  write('02.csv', '3:7');
  await run(unloading);
  remove('01.csv');
  expect(await run(unloading)).toMatchObject({ tables: [{ files: 0, rowsBefore: 3, rows: 1 }, {}] });
  expect([await sales(), await total(), await states()]).toEqual([
    '3:7',
    { pieces: 7, sales: 1 },
    ['in/02.csv 1 1'],
  ]);
});

describe('single files', () => {
  const reloading = pipeline({ mode: 'append', changed: 'reload' });
  const listed = async () => {
    return (await listFiles(reloading, settings())).map(({ file, state, run: id, rows }) =>
      [file, state, id, rows].join(' ').trim(),
    );
  };

  it('are listed with their state, loaded again, and taken out', async () => {
    expect(await listed()).toEqual(['in/01.csv new']);
    write('02.csv', '3:7');
    write('03.csv', '4:7');
    await run(reloading);
    write('02.csv', '3:8');
    remove('03.csv');
    write('04.csv', '5:1');
    expect(await listed()).toEqual([
      'in/01.csv in production 1 2',
      'in/02.csv changed 1 1',
      'in/04.csv new',
      'in/03.csv gone 1 1',
    ]);
    await database.query('update shop.sale set pieces = 0');
    await run(reloading, { reload: ['in/01.csv'] });
    expect([await sales(), await listed()]).toEqual([
      '1:5 2:6 3:8 4:0 5:1',
      [
        'in/01.csv in production 2 2',
        'in/02.csv in production 2 1',
        'in/04.csv in production 2 1',
        'in/03.csv gone 1 1',
      ],
    ]);
    await run(reloading, { unload: ['in/01.csv', 'in/03.csv'] });
    expect([await sales(), (await listed())[0]]).toEqual(['3:8 5:1', 'in/01.csv unloaded 2 0']);
    expect(await run(reloading)).toMatchObject({ outcome: 'unchanged' });
    write('01.csv', '1:9');
    await run(reloading);
    expect(await sales()).toBe('1:9 3:8 5:1');
    await run(reloading, { unload: ['in/01.csv'] });
    await run(reloading, { reload: [`${files.directory}/in/01.csv`] });
    expect(await sales()).toBe('1:9 3:8 5:1');
  });

  it('are refused when they are not known, or rows are not known by their file', async () => {
    await run();
    expect(await failureOf(run(pipeline(), { reload: ['in/09.csv'] }))).toMatchObject({
      code: 'ETL_FILE_UNKNOWN',
      message: 'pipeline sales has nothing in production from "in/09.csv" (did you mean "in/01.csv"?)',
    });
    expect((await failureOf(run(pipeline(), { unload: ['nothing like it'] }))).message).toBe(
      'pipeline sales has nothing in production from "nothing like it"',
    );
    expect(await failureOf(run(pipeline(), { unload: ['in/01.csv'] }))).toMatchObject({
      code: 'ETL_FILE_LINEAGE',
    });
    expect(await failureOf(run(reloading))).toMatchObject({
      code: 'ETL_PUBLISH_SHAPE',
      hint: expect.stringContaining('Load everything again once with --full-refresh.'),
    });
    await run(reloading, { fullRefresh: true });
    await run(reloading, { unload: ['in/01.csv'] });
    expect(await rowsOf('select * from shop.sale')).toEqual([]);
    // That it has no rows is no reason to load everything again.
    expect(await run(reloading)).toMatchObject({ outcome: 'unchanged' });
    write('02.csv', '3:7');
    await run(reloading);
    expect(await sales()).toBe('3:7');
  });
});

describe('refuses, and leaves production as it was', () => {
  it('a file that is to leave, and that somebody else has taken out since', async () => {
    const reloading = pipeline({ mode: 'append', changed: 'reload' });
    await run(reloading);
    write('01.csv', '1:7', '2:6');
    files.write('take-out.sql', 'delete from etl.published_file');
    const beside = pipeline({ mode: 'append', changed: 'reload' }, {}, { after: sqlFile('take-out.sql') });
    expect(await failureOf(run(beside))).toMatchObject({
      code: 'ETL_INCOMPLETE',
      details: { problem: 'rows of 1 file were to be deleted or superseded, and it had rows of 0' },
    });
    expect(await sales()).toBe('1:5 2:6');
  });

  it('rows whose key is in production, or twice in the files, by file and line', async () => {
    await run();
    write('02.csv', '3:7', '2:9');
    expect(await failureOf(run())).toMatchObject({
      code: 'ETL_DUPLICATE_ROWS',
      details: { key: 'primary key (id)', records: 'in/02.csv:3 (2) is in production already' },
    });
    write('02.csv', '3:7');
    write('03.csv', '4:7', '3:8');
    expect(await failureOf(run())).toMatchObject({
      details: { records: 'in/03.csv:3 (3) is in these files twice' },
    });
    expect([await sales(), await states()]).toEqual(['1:5 2:6', ['in/01.csv 1 2']]);
    // Lines of more than one line, records that are rejected and left out, a compressed file.
    const lines = [
      'id,pieces,note',
      '4,1,"of two',
      'lines"',
      'x,1,rejected',
      '5,1,left out',
      '6,1,',
      '1,1,twice',
      '',
    ];
    rmSync(`${files.directory}/in/03.csv`);
    files.write('in/04.csv.gz', gzipSync(lines.join('\n')));
    const filtering = pipeline('append', {
      source: csv('in/*.csv*'),
      rejectLimit: 1,
      filter: when((fields) => fields['note'] !== 'left out', ['note']),
      missing: 'null',
    });
    expect(await failureOf(run(filtering))).toMatchObject({
      details: { records: 'in/04.csv.gz:7 (1) is in production already' },
    });
    remove('04.csv.gz');
    write('03.csv', '4:7');
    await run();
    expect(await sales()).toBe('1:5 2:6 3:7 4:7');
  });

  it.each([
    {
      change: 'alter table shop.sale drop column pieces cascade',
      problem: /pieces integer is declared, and the table has no such column/,
    },
    {
      change: 'alter table shop.sale alter pieces type smallint',
      problem: /pieces integer is declared, and it is smallint in the table/,
    },
    {
      change: `alter table shop.sale add shop text not null default '' ; alter table shop.sale alter shop drop default`,
      problem: /column shop of the table is not declared, and needs a value/,
    },
  ])('a target that somebody altered: $change', async ({ change, problem }) => {
    await run();
    await database.query(change);
    write('02.csv', '3:7');
    const error = await failureOf(run());
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
    expect(error.message).toMatch(problem);
    expect(await rowsOf('select count(*)::int as chunks from etl.chunk')).toEqual([{ chunks: 1 }]);
  });

  it('a trigger that keeps rows out', async () => {
    await run();
    await database.query(`create function shop.no() returns trigger language plpgsql as 'begin return null; end';
      create trigger no before insert on shop.sale for each row execute function shop.no()`);
    write('02.csv', '3:7');
    expect(await failureOf(run())).toMatchObject({ code: 'ETL_PUBLISH_WITHHELD' });
    expect(await states()).toEqual(['in/01.csv 1 2']);
    await database.query('drop trigger no on shop.sale');
    expect(await run()).toMatchObject({ outcome: 'published' });
    expect(await rowsOf('select count(*)::int as chunks from etl.chunk')).toEqual([{ chunks: 2 }]);
  });

  it('to forget that everything is to be loaded again, when a run of that is stopped', async () => {
    await run();
    await database.query('update shop.sale set pieces = 0');
    const stop = new AbortController();
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'building') stop.abort(new Error('stopped'));
    };
    await failureOf(run(pipeline(), { fullRefresh: true, onEvent, signal: stop.signal }));
    expect(await sales()).toBe('1:0 2:0');
    expect(await run()).toMatchObject({ outcome: 'published', tables: [{ files: 1, rows: 2 }, {}] });
    expect([await sales(), await states()]).toEqual(['1:5 2:6', ['in/01.csv 2 2']]);
  });

  it('to load everything again, if that would lose rows', async () => {
    await run();
    write('02.csv', '3:7');
    await run();
    remove('01.csv');
    const again = { fullRefresh: true };
    expect(await failureOf(run(pipeline(), again))).toMatchObject({
      code: 'ETL_ROWS_LOST',
      details: { problem: '2 rows of 1 file that it does not list, such as in/01.csv' },
    });
    expect(await sales()).toBe('1:5 2:6 3:7');
    expect(await run(pipeline(), { ...again, allowShrink: ['sale'] })).toMatchObject({
      tables: [{ strategy: 'swap', rows: 1 }, {}],
    });
    expect(await states()).toEqual(['in/02.csv 3 1']);
  });
});

it.each([
  { publish: 'append', change: { staging: 'none' }, problem: /needs staging: 'typed' or 'text'/ },
  { publish: { mode: 'append', changed: 'twice' }, problem: /changed must be one of .*, not 'twice'/ },
  {
    publish: { mode: 'append', changed: 'reload' },
    change: { columns: { ...columns, _file: column.text('x') } },
    problem: /column _file: changed: 'reload' and gone: 'unload' make a column of this name/,
  },
  { publish: 'upsert', problem: /publish/ },
])('is declared rightly or not at all: $problem', ({ publish, change = {}, problem }) => {
  expect(() => pipeline(publish, change)).toThrow(problem);
});
