// `etl load` as somebody uses it: new tables, the second load, what is saved, texts of other dialects, sequences.

import { readFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { column, csv, definePipeline, index, loadFiles } from '../../src/index.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { database, etl, files, one, rowsOf, run, settings, startOver } = usePipelineRuns();

beforeEach(async () => {
  await startOver('app');
  await database.query(
    'create schema app; create table app.users (id serial primary key, name text not null, born date, seen timestamptz)',
  );
});

const load = (...args: string[]) => etl('load', ...args, '--into', 'app.users');
const users = async (): Promise<unknown> =>
  rowsOf('select id, name, born::text, seen::text from app.users order by id');

it('says where the fields go; a second load of the same file changes nothing, and another file is added', async () => {
  const file = files.write('in/users.csv', 'Name\nAnn\nBob\n');
  const first = await load(file);
  expect(first).toMatchObject({
    exit: 0,
    out: expect.stringContaining('app.users: Name → name\n') as string,
  });
  const second = await load(file);
  expect(second).toMatchObject({
    exit: 0,
    out: expect.stringContaining('Nothing to do: these files are loaded already.') as string,
  });
  await load(files.write('in/more.csv', 'name\nCarl\n'));
  expect(await users()).toMatchObject([
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
    { id: 3, name: 'Carl' },
  ]);
});

it('sets the sequence past the largest value, and never back', async () => {
  await load(files.write('in/1.csv', 'id,name\n70,Ann\n'));
  expect(await one(`insert into app.users (name) values ('x') returning id`)).toBe(71);
  await load(files.write('in/2.csv', 'id,name\n5,Bob\n'));
  expect(await one(`insert into app.users (name) values ('y') returning id`)).toBe(72);
});

it('reads files without header, in another dialect, encoding, and date format', async () => {
  const file = files.write(
    'in/old.txt',
    Buffer.from('M\xfcller;05.01.2026;2026-01-05 10:00\nLef\xe8vre;06.01.2026;2026-07-05 10:00\n', 'latin1'),
  );
  const flags = ['--no-header', '--only', 'name,born,seen', '--encoding', 'latin1'];
  const spelt = ['--type', 'born=date(DD.MM.YYYY)', '--zone', 'Europe/Berlin'];
  expect(await load(file, ...flags, ...spelt)).toMatchObject({ exit: 0 });
  expect(await users()).toEqual([
    { id: 1, name: 'Müller', born: '2026-01-05', seen: '2026-01-05 09:00:00+00' },
    { id: 2, name: 'Lefèvre', born: '2026-01-06', seen: '2026-07-05 08:00:00+00' },
  ]);
});

it('saves a pipeline that finds nothing to do, and loads what comes later', async () => {
  const file = files.write('in/users.csv', 'id,name\n1,Ann\n');
  const saved = `${files.directory}/pipelines/users.ts`;
  expect(await load(file, '--save', saved)).toMatchObject({
    exit: 0,
    out: expect.stringContaining('Wrote pipelines/users.ts') as string,
  });
  expect(readFileSync(saved, 'utf8')).toContain(`    users: {
      source: csv('${file}', { quotedNulls: false, onBadFile: 'stop' }),
      columns: {
        id: column.integer('id'),
        name: column.text('name'),
      },
      primaryKey: ['id'],
      publish: 'append',
      evolve: 'keep', // nothing of the table changes but its rows
    },`);
  expect(await etl('run', saved)).toMatchObject({
    exit: 0,
    out: expect.stringContaining('Nothing to do') as string,
  });
  expect(await load(file, '--save', saved)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('ETL_FILE_EXISTS') as string,
  });
});

it('with --dry-run, shows the plan and changes nothing', async () => {
  const shown = await load(files.write('in/users.csv', 'name\nAnn\n'), '--dry-run');
  expect(shown).toMatchObject({
    exit: 0,
    out: expect.stringMatching(/1 file to load[^]*publish +append/) as string,
  });
  expect(await users()).toEqual([]);
});

it('keeps the indexes that a pipeline declared for the same table, its key, and its not nulls', async () => {
  const columns = { id: column.integer('id'), name: column.text('name') };
  const source = csv(files.write('shop.csv', 'id,name\n1,Ann\n'));
  const table = {
    source,
    columns,
    primaryKey: ['id'] as const,
    indexes: [index('name')],
    publish: 'append' as const,
  };
  await run(definePipeline({ name: 'shop', schema: 'app', tables: { item: table } }));
  const shape = (): Promise<unknown> =>
    one(
      `select string_agg(pg_get_indexdef(indexrelid), ';' order by indexrelid) from pg_index where indrelid = 'app.item'::regclass`,
    );
  const before = await shape();
  await database.query('alter table app.item alter id set default 7');
  const file = files.write('in/items.csv', 'name\nBob\n');
  expect(await etl('load', file, '--into', 'app.item')).toMatchObject({ exit: 0 });
  expect(await shape()).toEqual(before);
});

it('makes a table that does not exist, as init would write it, with the key of --key', async () => {
  const file = files.write('in/items.csv', 'Item No,Price\nA1,1.50\nA2,2.00\n');
  const made = await etl('load', file, '--into', 'app.New Items', '--key', 'Item No');
  expect(made).toMatchObject({
    exit: 0,
    out: expect.stringContaining('app.New Items is new: item_no text, price numeric') as string,
  });
  expect(await rowsOf('select item_no, price::text from app."New Items" order by 1')).toEqual([
    { item_no: 'A1', price: '1.50' },
    { item_no: 'A2', price: '2.00' },
  ]);
  const more = files.write('in/more.csv', 'Item No,Price\nA2,2.50\nA3,1.00\n');
  expect(await etl('load', more, '--into', 'app.New Items', '--merge')).toMatchObject({ exit: 0 });
  expect(await one(`select string_agg(item_no || price, ' ' order by item_no) from app."New Items"`)).toBe(
    'A11.50 A22.50 A31.00',
  );
});

it.each([
  [['--append', '--merge'], '--append and --merge contradict each other'],
  [['--map', 'x=name'], '--map: in/users.csv has no field "x"'],
  [['--type', 'name=integer'], '--type name=integer: the column is text in the table'],
  [['--merge', '--key', 'name'], '--merge: no unique index is on (name)'],
  [['--replace'], '--replace: the files have nothing for id, born, seen of app.users'],
])('%j is refused, and nothing is loaded', async (flags, problem) => {
  files.write('in/users.csv', 'name\nAnn\n');
  const { exit, err } = await load('in/users.csv', ...flags);
  expect(exit).toBe(2);
  expect(err).toContain(problem);
  expect(await users()).toEqual([]);
});

it('a table of several schemas needs its schema, unless one of them is public', async () => {
  await database.query(
    'create schema if not exists other; create table if not exists other.users (name text)',
  );
  const file = files.write('in/users.csv', 'name\nAnn\n');
  const { exit, err } = await etl('load', file, '--into', 'users');
  expect([exit, err]).toEqual([
    2,
    expect.stringMatching(/tables of several schemas are called "users"[^]*--into (app|other)\.users/),
  ]);
});

it.each([
  ['app.users', 'users'],
  ['fresh', 'fresh'],
])('a file that is not there is missed for the table of --into %s', async (into, table) => {
  const { exit, err } = await etl('load', 'none.csv', '--into', into);
  expect([exit, err]).toEqual([1, expect.stringContaining(`table ${table}: no file matches none.csv`)]);
});

it('makes no schema: a dot in a name without quotes would be one', async () => {
  const file = files.write('in/users.csv', 'name\nAnn\n');
  const { exit, err } = await etl('load', file, '--into', 'users.csv');
  expect([exit, err]).toEqual([2, expect.stringContaining('--into: there is no schema "users"')]);
});

it('a faulty record stops the load with its line, or is kept as a reject within --reject-limit', async () => {
  const file = files.write('in/users.csv', 'id,name\n1,Ann\nx,Bob\n');
  expect(await load(file)).toMatchObject({
    exit: 3,
    err: expect.stringMatching(/ETL_REJECT_LIMIT[^]*in\/users\.csv:3[^]*`--reject-limit`/) as string,
  });
  expect(await users()).toEqual([]);
  expect(await load(file, '--reject-limit', '1')).toMatchObject({ exit: 0 });
  expect(await users()).toMatchObject([{ name: 'Ann' }]);
});

it('a file that changed is added with --again, beside the rows of its earlier version, and so is an equal one', async () => {
  const write = (text: string): string => files.write('in/users.csv', text);
  await load(write('name\nAnn\n'));
  const changed = await load(write('name\nBob\nCarl\n'));
  expect(changed).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/ETL_FILE_CHANGED[^]*--again adds the rows/) as string,
  });
  expect(await load('in/users.csv', '--again')).toMatchObject({ exit: 0 });
  expect(await load('in/users.csv')).toMatchObject({
    exit: 0,
    out: expect.stringContaining('loaded already') as string,
  });
  expect(await load('in/users.csv', '--again')).toMatchObject({ exit: 0 });
  expect(await one("select string_agg(name, ' ' order by id) from app.users")).toBe('Ann Bob Carl Bob Carl');
  expect((await etl('status', '1')).exit).toBe(0);
});

it('with --merge, a changed file is merged again', async () => {
  await load(files.write('in/users.csv', 'id,name\n1,Ann\n'), '--merge');
  await load(files.write('in/users.csv', 'id,name\n1,Anna\n2,Bob\n'), '--merge');
  expect(await users()).toMatchObject([
    { id: 1, name: 'Anna' },
    { id: 2, name: 'Bob' },
  ]);
});

it('loadFiles does the same, with its options', async () => {
  files.write('in/users.csv', 'Nr;Full Name;Note\n7;Ann;x\n');
  const given = { ...settings(), into: 'app.users', csv: { delimiter: ';' }, skip: ['Note'], workers: 1 };
  const names = { map: { Nr: 'id', 'Full Name': 'name' } };
  await expect(loadFiles('in/users.csv', { ...settings(), into: 'app.users' })).rejects.toMatchObject({
    code: 'ETL_LOAD_FIELDS',
  });
  const result = await loadFiles('in/users.csv', { ...given, ...names, mode: 'merge' });
  expect(result).toMatchObject({
    pipeline: 'load-app-users',
    outcome: 'published',
    tables: [{ table: 'users', rows: 1 }],
  });
  expect(await loadFiles(['in/users.csv'], { ...given, ...names, mode: 'merge' })).toMatchObject({
    outcome: 'unchanged',
  });
  await expect(loadFiles('in/users.csv', { ...given, mode: 'upsert' as never })).rejects.toMatchObject({
    code: 'ETL_USAGE',
  });
  await expect(loadFiles('in/users.csv', { ...given, maps: {} } as never)).rejects.toMatchObject({
    code: 'ETL_USAGE',
  });
  expect(await users()).toMatchObject([{ id: 7, name: 'Ann' }]);
});

it('etl init --into writes the pipeline of a table that exists, and only of such a table', async () => {
  const file = files.write('in/users.csv', 'Name,Born\nAnn,2026-01-05\n');
  const path = `${files.directory}/pipelines/people.ts`;
  const written = await etl('init', file, '--into', 'app.users', '--out', path);
  expect(written).toMatchObject({
    exit: 0,
    out: expect.stringMatching(
      /^app\.users: Name → name, Born → born\nWrote (pipelines\/people\.ts)\. Look at it, then: npx etl plan \1, npx etl run \1\n$/,
    ) as string,
  });
  expect(await etl('run', path)).toMatchObject({ exit: 0 });
  expect(await users()).toMatchObject([{ name: 'Ann', born: '2026-01-05' }]);
  const { exit, err } = await etl('init', file, '--into', 'app.nobody');
  expect([exit, err]).toEqual([2, expect.stringContaining('--into: there is no table app.nobody')]);
  // Before anything is read or asked of a server.
  const twice = await etl('init', 'nothing.csv', '--into', 'app.users', '--out', path);
  expect(twice).toMatchObject({ exit: 2, err: expect.stringContaining('ETL_FILE_EXISTS') as string });
});
