// `distribute`, on a server without Citus: a catalogue and functions of the same names take its place, and tell what they were asked.
// test/services/citus.test.ts runs on a real cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { eachOnItsOwn } from '../../src/db/connect/citus-statements.ts';
import { column, csv, definePipeline, type Pipeline } from '../../src/index.ts';
import { fakeCitus, noCitus } from '../helpers/fake-citus.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, one, run, etl, startOver } = usePipelineRuns();
const sales = (rows = 3): string =>
  files.write(
    'sale.csv',
    `id,shop,amount\n${Array.from({ length: rows }, (_, id) => `${id},s${id % 2},${id}`).join('\n')}\n`,
  );
const columns = {
  id: column.integer('id'),
  shop: column.text('shop'),
  amount: column.integer('amount'),
} as const;
type Distribute = 'reference' | { by: 'shop' | 'id'; with?: string };

const pipeline = (distribute: Distribute | undefined, keys: object = {}): Pipeline =>
  definePipeline({
    name: 'sales',
    schema: 'gen',
    tables: {
      sale: {
        source: csv('sale.csv'),
        columns,
        primaryKey: ['id', 'shop'],
        ...(distribute && { distribute }),
        ...keys,
      },
    },
  });

beforeEach(async () => {
  await database.query(noCitus);
  await startOver('gen', 'etl_kept');
  sales();
});

const asked = () => rowsOf('select what from gen_citus.asked order by id');
const distribution = (name: string) =>
  one(
    `select partmethod::text || ' ' || colocationid from pg_catalog.pg_dist_partition where logicalrelid = '${name}'::regclass`,
  );

it('a server without Citus is refused by name, before any work', async () => {
  const error = await failureOf(run(pipeline({ by: 'shop' })));
  expect(error).toMatchObject({ code: 'ETL_DEFINITION' });
  expect(error.message).toContain('table sale, distribute: this database has no Citus; remove distribute');
  expect(await one(`select to_regclass('etl.run')`)).toBeNull();
});

describe('with the catalogue of Citus', () => {
  beforeEach(() => database.query(fakeCitus));

  it.each(['typed', 'none'] as const)(
    'staging %s: a logged table is distributed while it is empty, and swapped',
    async (staging) => {
      const first = await run(pipeline({ by: 'shop' }, { staging }));
      expect(first.tables).toMatchObject([{ strategy: 'swap', rows: 3 }]);
      expect(await distribution('gen.sale')).toBe('h 1');
      const before = await one(`select 'gen.sale'::regclass::oid`);
      await database.query('truncate gen_citus.asked');
      sales(4);
      const second = await run(pipeline({ by: 'shop' }, { staging }));
      expect(second.tables).toMatchObject([{ strategy: 'swap', rows: 4 }]);
      expect(notices).toEqual([]);
      expect(await one(`select 'gen.sale'::regclass::oid`)).not.toBe(before);
      const told = new Set((await asked()).map(({ what }) => what));
      expect(told).toEqual(new Set(['p shop like "gen"."sale"']));
    },
  );

  it('a reference table', async () => {
    await run(pipeline('reference'));
    expect(await distribution('gen.sale')).toMatch(/^n /);
    sales(4);
    expect((await run(pipeline('reference'))).tables).toMatchObject([{ strategy: 'swap', rows: 4 }]);
  });

  it('with: the shards are where those of the other table are', async () => {
    await database.query(`create schema gen; create table gen.shop (id text);
      select create_distributed_table('gen.shop', 'id'); truncate gen_citus.asked`);
    await run(pipeline({ by: 'shop', with: 'gen.shop' }));
    expect(await asked()).toContainEqual({ what: 'p shop like "gen"."shop"' });
    const error = await failureOf(run(pipeline({ by: 'shop', with: 'gen.nowhere' })));
    expect(error.message).toContain('with names gen.nowhere, which does not exist');
    await database.query(
      `update pg_catalog.pg_dist_partition set colocationid = 2 where logicalrelid = 'gen.shop'::regclass`,
    );
    expect((await failureOf(run(pipeline({ by: 'shop', with: 'gen.shop' })))).message).toContain(
      'are not on the nodes of those of gen.shop',
    );
  });

  it.each([
    { found: '', declared: { by: 'shop' }, is: 'is a local table' },
    {
      found: `select create_reference_table('gen.sale')`,
      declared: { by: 'shop' },
      is: 'is a reference table',
    },
    {
      found: `select create_distributed_table('gen.sale', 'id')`,
      declared: { by: 'shop' },
      is: 'is distributed by id',
    },
    {
      found: `select create_distributed_table('gen.sale', 'shop')`,
      declared: 'reference',
      is: 'is distributed by shop',
    },
  ] as const)('a table that $is is not distributed otherwise by a run', async ({ found, declared, is }) => {
    await database.query(`create schema gen;
      create table gen.sale (id integer not null, shop text not null, amount integer not null, primary key (id, shop)); ${found}`);
    const error = await failureOf(run(pipeline(declared)));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
    expect(error.message).toContain(`gen.sale ${is}, and distribute is`);
    expect(error.hint).toContain(
      `select create_${declared === 'reference' ? 'reference' : 'distributed'}_table('"gen"."sale"'`,
    );
  });

  it('a distributed table that the definition does not call so stays the table that it is', async () => {
    await run(pipeline({ by: 'shop' }));
    const before = await one(`select 'gen.sale'::regclass::oid`);
    sales(4);
    expect((await run(pipeline(undefined))).tables).toMatchObject([{ strategy: 'in place', rows: 4 }]);
    expect(notices.join()).toContain('because of Citus table');
    expect(await one(`select 'gen.sale'::regclass::oid`)).toBe(before);
  });

  it.each([
    {
      found: `select create_distributed_table('gen.sale', 'shop')`,
      distribute: `distribute: { by: 'shop' },`,
      stored: /^h /,
    },
    {
      found: `select create_reference_table('gen.sale')`,
      distribute: `distribute: 'reference',`,
      stored: /^n /,
    },
  ])('init and load of an existing table write $distribute', async ({ found, distribute, stored }) => {
    await database.query(`create schema gen;
      create table gen.sale (id integer not null, shop text, amount integer); ${found}`);
    const init = await etl('init', 'sale.csv', '--into', 'gen.sale', '--out', '-');
    expect(init.out).toContain(distribute);
    const loaded = await etl('load', 'sale.csv', '--into', 'gen.sale', '--save', 'saved.ts', '--force');
    expect(loaded.err).not.toContain('ETL_');
    expect(readFileSync(join(files.directory, 'saved.ts'), 'utf8')).toContain(distribute);
    expect(await one('select count(*)::int from gen.sale')).toBe(3);
    expect((await etl('run', join(files.directory, 'saved.ts'))).exit).toBe(0);
    expect(await distribution('gen.sale')).toMatch(stored);
  });

  it('what Citus refuses is known before anything is loaded', async () => {
    await database.query(`create or replace function pg_catalog.create_reference_table(of regclass) returns void language plpgsql as
      $$ begin raise 'cannot do this here' using errcode = '0A000'; end $$`);
    const error = await failureOf(run(pipeline('reference')));
    expect(error).toMatchObject({ code: 'ETL_ATTRIBUTE_REFUSED' });
    expect(error.message).toContain("refuses `distribute: 'reference'`: cannot do this here");
    expect(await one('select count(*)::int from etl.chunk')).toBe(0);
  });
});

describe('statements that Citus passes on', () => {
  it.each([
    ['one statement', 'alter table a rename to b;'],
    ['one statement with a text', `comment on table a is 'x; y'`],
    ['rows alone', 'select 1; update a set b = 1'],
    ['a function with a body', 'create function f() begin atomic select 1; end; drop table b'],
  ])('%s: the query is as it was', (_, text) => {
    expect(eachOnItsOwn(text)).toBe(text);
  });

  it('each has a block of its own, between the others', () => {
    const text = `begin; alter table "a;b" rename to c; -- then; this
      select ';' as x; create function f() returns int language sql as $f$ select 1; $f$;
      /* ; */ comment on table c is 'its;'; commit`;
    expect(eachOnItsOwn(text)).toBe(
      [
        'begin',
        `do 'begin execute '' alter table "a;b" rename to c''; end'`,
        ` -- then; this\n      select ';' as x`,
        `do 'begin execute '' create function f() returns int language sql as $f$ select 1; $f$''; end'`,
        `do 'begin execute ''\n      /* ; */ comment on table c is ''''its;''''''; end'`,
        ' commit',
      ].join(';'),
    );
  });

  it('and they do the same as one query', async () => {
    await database.query(`create schema gen; create table gen.a (t text default 'it''s; \\n')`);
    await database.query(
      eachOnItsOwn(`begin; alter table gen.a rename to b; comment on table gen.b is E'a\\';b'; insert into gen.b default values;
        create function gen.f() returns text language sql as $$ select 'x;' $$; commit`),
    );
    expect(
      await rowsOf(`select t, obj_description('gen.b'::regclass) as c, gen.f() as f from gen.b`),
    ).toEqual([{ t: `it's; \\n`, c: `a';b`, f: 'x;' }]);
  });
});
