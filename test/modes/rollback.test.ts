// keep and `etl rollback`: earlier versions of replaced tables stay, and go back into production together.

import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { lockBuild, tryLockPipeline } from '../../src/db/session/advisory-lock.ts';
import {
  column,
  listFiles,
  rollbackPipeline,
  verifyPipeline,
  type Pipeline,
  type RunEvent,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useShop } from '../helpers/shop.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

/** The sale `1:5` is number 1, of 5 pieces. */
const {
  files,
  database,
  notices,
  rowsOf,
  one,
  settings,
  run: runIt,
  write,
  sales,
} = useShop({
  header: 'id,pieces',
  total: 'select sum(pieces)::bigint as pieces from sale',
  schemas: ['etl_kept'],
});

const pipeline = (change: object = {}, totalChange: object = { keep: 2 }): Pipeline =>
  sales(
    {
      columns: { id: column.integer('id'), pieces: column.integer('pieces') },
      primaryKey: ['id'],
      keep: 2,
      ...change,
    },
    totalChange,
  );

const options = () => ({
  ...settings(),
  onEvent: (event: RunEvent) => event.type === 'notice' && notices.push(event.message),
});
const run = (given: Pipeline = pipeline(), more: object = {}) => runIt(given, more);
const rollback = async (more: object = {}, given: Pipeline = pipeline()) =>
  rollbackPipeline(given, { ...options(), ...more });

/** Rows of both tables. */
const production = async () =>
  one(
    `select (select string_agg(id || ':' || pieces, ' ' order by id) from shop.sale) || ' = ' || (select pieces from shop.total)`,
  );
const kept = async () =>
  one(`select string_agg(table_name || run_id, ' ' order by id) from etl.kept_table
    where format('etl_kept.%I', kept_name)::regclass = table_oid`);
const states = async () =>
  (await listFiles(pipeline(), options())).map(
    ({ file, state, run: id }) => `${file} ${state} ${String(id)}`,
  );

/** Three nights: runs 1, 2 and 3. */
const threeNights = async (given?: Pipeline): Promise<void> => {
  write('a.csv', '1:1');
  await run(given);
  write('b.csv', '2:2');
  await run(given);
  write('c.csv', '3:3');
  await run(given);
};

it('verifying says that a file is other than in production because its run was rolled back', async () => {
  write('a.csv', '1:1');
  write('b.csv', '2:2');
  await run();
  write('b.csv', '2:3');
  await run();
  await rollback();
  const [sale] = (await verifyPipeline(pipeline(), options())).tables;
  expect(sale?.files.map(({ file, run: id }) => `${file} ${id}`)).toEqual(['in/a.csv 1']);
  expect(sale?.notCompared).toContainEqual({
    file: 'in/b.csv',
    column: null,
    reason:
      'run 2 was rolled back by run 3, so that the version of run 1 is in production, and the file has changed since run 1 loaded it',
  });
});

describe('keep', () => {
  it('the last versions stay, out of reach of others, and older ones are dropped', async () => {
    await threeNights();
    expect(await kept()).toBe('sale1 total1 sale2 total2');
    expect(notices.at(-1)).toMatch(
      /^kept for etl rollback: shop\.sale as of run 2, 1 \(\d+(?:\.\d)? kB\); shop\.total as of run 2, 1/,
    );
    write('d.csv', '4:4');
    await run();
    expect(await kept()).toBe('sale2 total2 sale3 total3');
    expect(
      await one(
        `select count(*)::int from pg_class where relnamespace = 'etl_kept'::regnamespace and relkind = 'r'`,
      ),
    ).toBe(4);
    expect(await one(`select nspacl is null from pg_namespace where nspname = 'etl_kept'`)).toBe(true);
    // Fewer are kept from now on: nothing is loaded for that.
    const fewer = await run(pipeline({ keep: 1 }, {}));
    expect(fewer.outcome).toBe('unchanged');
    expect(await kept()).toBe('sale3');
  });

  it('a schema that a stranger made beforehand is refused, and nothing is put into it', async () => {
    write('a.csv', '1:1');
    await run();
    await database.query('create role kept_stranger; create schema etl_kept authorization kept_stranger');
    write('b.csv', '2:2');
    try {
      expect(await failureOf(run())).toMatchObject({ code: 'ETL_UNTRUSTED' });
      expect(await production()).toBe('1:1 = 1');
    } finally {
      await database.query('drop schema etl_kept; drop role kept_stranger');
    }
  });
});

describe('rollback', () => {
  it('goes back with all tables together: rows, keys, files, grants as they are now', async () => {
    write('a.csv', '1:1');
    await run();
    await database.query(`create role kept_reader; create role kept_gone;
      grant select on shop.sale to kept_gone; grant select (id) on shop.sale to kept_gone`);
    try {
      write('b.csv', '2:2');
      await run();
      await database.query(`revoke all on shop.sale from kept_gone; grant select on shop.sale to kept_reader;
        comment on table shop.sale is 'sold'`);
      const result = await rollback();
      expect(result).toMatchObject({ runId: 3, to: 1, undone: 2, withdrawn: ['in/b.csv'] });
      expect(result.tables).toEqual([
        { table: 'sale', schema: 'shop', rowsBefore: 2, rows: 1, strategy: 'swap' },
        { table: 'total', schema: 'shop', rowsBefore: 1, rows: 1, strategy: 'swap' },
      ]);
      expect(await production()).toBe('1:1 = 1');
      expect(await states()).toEqual(['in/a.csv in production 1', 'in/b.csv new null']);
      expect(
        await rowsOf(`select has_table_privilege('kept_reader', oid, 'select') as now,
            has_any_column_privilege('kept_gone', oid, 'select') as before, obj_description(oid) as comment,
            array(select indexrelid::regclass::text from pg_index where indrelid = oid) as indexes
          from pg_class where oid = 'shop.sale'::regclass`),
      ).toEqual([{ now: true, before: false, comment: 'sold', indexes: ['shop.sale_pkey'] }]);
      expect(await kept()).toBe('sale2 total2');
      await database.query('insert into shop.sale values (9, 9)');
      await expect(database.query('insert into shop.sale values (9, 0)')).rejects.toMatchObject({
        code: '23505',
      });
    } finally {
      await database.query('drop owned by kept_reader, kept_gone; drop role kept_reader, kept_gone');
    }
  });

  it('asked again does nothing, goes further back and forward with --to, and says when production is like that already', async () => {
    await threeNights();
    expect(await rollback()).toMatchObject({ to: 2, undone: 3 });
    expect(await production()).toBe('1:1 2:2 = 3');
    expect(await rollback()).toMatchObject({ runId: null, to: 2 });
    expect(notices.at(-1)).toBe(
      'nothing to undo: run 4 already went back to run 2, and no run has loaded since; --to 1 goes further back',
    );
    expect(await production()).toBe('1:1 2:2 = 3');
    expect(await rollback({ to: 1 })).toMatchObject({ to: 1, undone: 2 });
    expect(await production()).toBe('1:1 = 1');
    expect(await rollback()).toMatchObject({ runId: null, to: 1 });
    expect(await rollback({ to: 3 })).toMatchObject({ to: 3, undone: null, withdrawn: [] });
    expect(await production()).toBe('1:1 2:2 3:3 = 6');
    expect(await rollback({ to: 3 })).toMatchObject({ runId: null, tables: [] });
    // The files are those of production again.
    expect((await run()).outcome).toBe('unchanged');
    write('d.csv', '4:4');
    await run();
    expect(await production()).toBe('1:1 2:2 3:3 4:4 = 10');
    expect(await kept()).toBe('sale1 total1 sale3 total3');
  });

  it('the next run refuses what was taken out, until a file or the definition is changed, or it is asked for', async () => {
    write('a.csv', '1:1');
    await run();
    write('b.csv', '2:20000');
    await run();
    await rollback();
    const refused = await failureOf(run());
    expect(refused).toMatchObject({ code: 'ETL_ROLLED_BACK' });
    expect(refused.message).toBe(
      'run 3 rolled back run 2 of pipeline sales, and this run would publish the same data again: in/b.csv: unchanged since',
    );
    // A new file does not take the bad one along.
    write('c.csv', '3:3');
    expect(await failureOf(run(pipeline(), { fresh: true }))).toMatchObject({ code: 'ETL_ROLLED_BACK' });
    expect(await production()).toBe('1:1 = 1');
    write('b.csv', '2:2');
    await run();
    expect(await production()).toBe('1:1 2:2 3:3 = 6');
    await rollback();
    await run(pipeline({ comment: 'another definition' }));
    expect(await production()).toBe('1:1 2:2 3:3 = 6');
    await rollback({ to: 1 }, pipeline());
    expect(await failureOf(run(pipeline({ comment: 'another definition' })))).toMatchObject({
      code: 'ETL_ROLLED_BACK',
    });
    await run(pipeline({ comment: 'another definition' }), { fullRefresh: true });
    expect(await production()).toBe('1:1 2:2 3:3 = 6');
  });

  it('a run whose definition alone was wrong is refused by its definition', async () => {
    write('a.csv', '1:1');
    await run();
    const wrong = pipeline({ comment: 'wrong' });
    await run(wrong);
    expect(await rollback()).toMatchObject({ undone: 2, withdrawn: [] });
    expect(await failureOf(run(wrong))).toMatchObject({ code: 'ETL_ROLLED_BACK' });
    expect((await run()).outcome).toBe('unchanged');
  });

  it('with a view on the table rows are exchanged in place, and are kept by copying', async () => {
    write('a.csv', '1:1');
    await run();
    await database.query('create view shop.ids as select id from shop.sale');
    const oid = await one(`select 'shop.sale'::regclass::oid`);
    write('b.csv', '2:2');
    await run();
    expect(notices.find((text) => text.includes('in place'))).toContain(
      'the old rows are copied into the kept version first',
    );
    expect((await rollback()).tables[0]).toMatchObject({ table: 'sale', rows: 1, strategy: 'in place' });
    expect(await production()).toBe('1:1 = 1');
    expect(await one('select count(*)::int from shop.ids')).toBe(1);
    expect(await one(`select 'shop.sale'::regclass::oid`)).toBe(oid);
    expect(await rollback({ to: 2 })).toMatchObject({ undone: null });
    expect(await production()).toBe('1:1 2:2 = 3');
    // Without the view a copy is completed with keys, and takes the table's place.
    await database.query('drop view shop.ids');
    expect((await rollback()).tables[0]).toMatchObject({ rows: 1, strategy: 'swap' });
    expect(await production()).toBe('1:1 = 1');
    await expect(database.query('insert into shop.sale values (1, 0)')).rejects.toMatchObject({
      code: '23505',
    });
    // And a table that was moved goes back into one that has a view by now.
    await database.query('create view shop.ids as select id from shop.sale');
    expect((await rollback({ to: 2 })).tables[0]).toMatchObject({ rows: 2, strategy: 'in place' });
    expect(await production()).toBe('1:1 2:2 = 3');
    expect(await kept()).toBe('sale1 total1');
    expect(
      await one(
        `select count(*)::int from pg_class where relnamespace = 'etl_kept'::regnamespace and relkind = 'r'`,
      ),
    ).toBe(2);
  });

  it('keeps what it replaces where nothing is kept any more', async () => {
    await threeNights();
    const without = pipeline({ keep: undefined }, {});
    await rollback({ to: 2 }, without);
    expect(await production()).toBe('1:1 2:2 = 3');
    await rollback({ to: 3 }, without);
    expect(await production()).toBe('1:1 2:2 3:3 = 6');
  });

  it('what was there before the first run goes back as well', async () => {
    await database.query(
      'create schema shop; create table shop.sale (id integer not null, pieces integer not null); insert into shop.sale values (7, 7)',
    );
    write('a.csv', '1:1');
    await run();
    expect(await rollback({ tables: ['sale'] })).toMatchObject({ to: 0, undone: 1 });
    expect(await production()).toBe('7:7 = 1');
    expect(await states()).toEqual(['in/a.csv new null']);
    expect(await failureOf(run())).toMatchObject({ code: 'ETL_ROLLED_BACK' });
  });

  it('is refused, and changes nothing, when a table has no such version, or was altered by hand', async () => {
    await threeNights(pipeline({}, {}));
    expect(await failureOf(rollback({}, pipeline({}, {})))).toMatchObject({
      code: 'ETL_ROLLBACK',
      message: expect.stringContaining(
        'not all tables can go back to run 2: total (its version of run 2 is not kept)',
      ) as unknown,
    });
    expect(await failureOf(rollback({ to: 99 }))).toMatchObject({ code: 'ETL_ROLLBACK' });
    expect(await failureOf(rollback({ tables: ['sail'] }))).toMatchObject({ code: 'ETL_USAGE' });
    await database.query('alter table shop.sale add column note text');
    expect(await failureOf(rollback({ tables: ['sale'] }))).toMatchObject({
      code: 'ETL_PUBLISH_SHAPE',
      message: expect.stringContaining('note was added by hand') as unknown,
    });
    expect(await one('select count(*)::int from shop.sale')).toBe(3);
    expect(await kept()).toBe('sale1 sale2');
    await database.query('alter table shop.sale drop column note');
    expect(await rollback({ tables: ['sale'] })).toMatchObject({ to: 2 });
    expect(await one('select count(*)::int from shop.sale')).toBe(2);
  });

  const again = 'run with --full-refresh --allow-shrink sale';
  it.each([
    {
      publish: { mode: 'append', changed: 'reload' } as const,
      hint: '`etl unload` takes the rows of a file out',
      undo: (given: Pipeline) => run(given, { unload: ['in/b.csv'] }),
    },
    { publish: 'append' as const, hint: `remove the file and ${again}` },
    {
      publish: { mode: 'merge' } as const,
      hint: `correct the file and \`etl reload\` it, or remove the file and ${again}`,
    },
  ])('a table with publish $publish says what undoes it, and that works', async ({ publish, hint, undo }) => {
    const changed = pipeline({ publish, keep: undefined });
    const withoutKeep = pipeline({ publish, keep: undefined }, {});
    write('a.csv', '1:1');
    await run(withoutKeep);
    expect((await failureOf(rollback({}, withoutKeep))).hint).toContain(`sale: ${hint}.`);
    write('b.csv', '2:2');
    await run(changed);
    const { message } = await failureOf(rollback({}, changed));
    expect(message).toContain(`sale (its rows are changed in place; ${hint})`);
    rmSync(`${files.directory}/in/b.csv`);
    await (undo?.(changed) ?? run(changed, { fullRefresh: true, allowShrink: ['sale'] }));
    expect(await rowsOf('select id, pieces from shop.sale')).toEqual([{ id: 1, pieces: 1 }]);
    expect(() => pipeline({ publish })).toThrow("keep needs publish: 'replace'");
  });

  it('waits for nobody who runs the pipeline, and ends a run that was left unfinished', async () => {
    await threeNights();
    await database.query(`update etl.run set state = 'loading' where id = 3`);
    await tryLockPipeline(database as never, 'sales');
    expect(await failureOf(rollback())).toMatchObject({ code: 'ETL_RUN_LOCKED' });
    await database.query('select pg_advisory_unlock_all()');
    // A process that was killed may still build.
    await lockBuild(database as never, 'sales');
    const order: string[] = [];
    const going = rollback().then(() => order.push('rolled back'));
    const waits = `select exists (select from pg_locks where locktype = 'advisory' and not granted) as yes`;
    while (order.length === 0 && !(await one(waits))) await Promise.resolve();
    order.push('built');
    await database.query('select pg_advisory_unlock_all()');
    await going;
    expect(order).toEqual(['built', 'rolled back']);
    expect(await rowsOf('select id::int, state from etl.run order by id desc limit 2')).toEqual([
      { id: 4, state: 'published' },
      { id: 3, state: 'cancelled' },
    ]);
  });

  it('the commands list, go back and show it in the history', async () => {
    await threeNights();
    const file = files.write(
      'sales.ts',
      `import { column, csv, definePipeline, sqlFile } from 'sluice';
export default definePipeline({ name: 'sales', schema: 'shop', tables: {
  sale: { source: csv('in/*.csv'), columns: { id: column.integer('id'), pieces: column.integer('pieces') }, primaryKey: ['id'],
    guard: false, keep: 2 },
  total: { from: ['sale'], transform: sqlFile('total.sql'), keep: 2 } } });`,
    );
    const etl = async (...args: string[]): Promise<string> => {
      const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
      expect(await main(args, io), io.stderr.text).toBe(0);
      return io.stdout.text;
    };
    expect(await etl('plan', file, '--full-refresh')).toMatch(
      /keep +2 earlier versions, each as large as the table/,
    );
    expect(await etl('rollback', file, '--list')).toMatch(
      /shop\.sale +2 +2 +[\d.]+ kB +run 3 .* etl_kept\.run_2_\d+/,
    );
    expect(await etl('rollback', file)).toContain(
      'Run 4: the tables of sales are again as run 2 published them.',
    );
    expect(await etl('status')).toMatch(/4 +sales +rolled back to 2 /);
    expect(await etl('rollback', file, '--to', '2')).toContain('Nothing to do');
  });
});
