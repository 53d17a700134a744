// Distributed tables on a real Citus cluster: every mode and staging. Runs where CITUS_URL names a coordinator;
// test/modes/distribution.test.ts has what runs everywhere.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  index,
  oneOf,
  sqlFile,
  type Pipeline,
  type RunEvent,
} from '../../src/index.ts';
import { askAt, citusUrl, citusWorkers, createCitusDatabase } from '../helpers/citus.ts';
import { killableNode } from '../helpers/citus-node.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { useDatabase } from '../helpers/server.ts';

describe.skipIf(citusUrl === undefined)('with Citus', () => {
  const { files, database, notices, rowsOf, one, run, etl } = usePipelineRuns(
    {},
    useDatabase(createCitusDatabase),
  );

  const distributionOf = (table: string) =>
    rowsOf(`select citus_table_type as type, distribution_column as by, colocation_id as colocation
      from citus_tables where table_name = '${table}'::regclass`);

  const sales = (name: string, from: number, to: number, factor = 1): string =>
    files.write(
      name,
      `id,shop,amount\n${Array.from({ length: to - from }, (_, at) => `${from + at},s${(from + at) % 7},${(from + at) * factor}`).join('\n')}\n`,
    );

  const columns = { id: column.integer('id'), shop: column.text('shop'), amount: column.integer('amount') };
  const keyed = { columns, primaryKey: ['id', 'shop'] as const, distribute: { by: 'shop' } as const };

  describe('a table is swapped', () => {
    const pipeline = (name: string, file: string, staging: 'typed' | 'none'): Pipeline =>
      definePipeline({
        name,
        schema: name,
        tables: { sale: { source: csv(file), ...keyed, staging, keep: 1, indexes: [index('amount')] } },
      });

    it.each(['typed', 'none'] as const)('with staging %s', async (staging) => {
      const name = `swap_${staging}`;
      const first = await run(pipeline(name, sales('a.csv', 0, 1000), staging));
      expect(first.tables).toMatchObject([{ strategy: 'swap', rows: 1000 }]);
      const before = await distributionOf(`${name}.sale`);
      expect(before).toMatchObject([{ type: 'distributed', by: 'shop' }]);
      const oid = await one(`select '${name}.sale'::regclass::oid`);
      const second = await run(pipeline(name, sales('a.csv', 0, 1200, 2), staging));
      expect(second.tables).toMatchObject([{ strategy: 'swap', rows: 1200 }]);
      expect(notices.join()).not.toContain('in place');
      expect(await one(`select '${name}.sale'::regclass::oid`)).not.toBe(oid);
      expect(await distributionOf(`${name}.sale`)).toEqual(before);
      expect(await rowsOf(`select count(*)::int, sum(amount)::int from ${name}.sale`)).toEqual([
        { count: 1200, sum: 1199 * 1200 },
      ]);
      expect(
        await rowsOf(`select indexname from pg_indexes where schemaname = '${name}' order by 1`),
      ).toEqual([{ indexname: 'sale_amount_idx' }, { indexname: 'sale_pkey' }]);
    });
  });

  const totals = async (table: string) => {
    const [row] = await rowsOf(`select count(*)::int as rows, sum(amount)::float8 as amount from ${table}`);
    return row;
  };
  /** Of ids from `from` to before `to`, times `factor`. */
  const sum = (from: number, to: number, factor = 1): number =>
    ((to * (to - 1) - from * (from - 1)) / 2) * factor;

  const inMode = (
    name: string,
    publish: object | string,
    names: readonly string[],
    keys: object = {},
  ): Pipeline =>
    definePipeline({
      name,
      schema: name,
      tables: { sale: { source: csv([...names]), ...keyed, ...keys, publish: publish as 'append' } },
    });

  const shops = `shop\n${[0, 1, 2, 3, 4, 5, 6].map((at) => `s${at}`).join('\n')}\n`;

  it('a reference table, and a table with a foreign key to it, are swapped', async () => {
    files.write('shop.csv', shops);
    const pipeline = () =>
      definePipeline({
        name: 'refers',
        schema: 'refers',
        tables: {
          shop: {
            source: csv('shop.csv'),
            columns: { shop: column.text('shop') },
            primaryKey: ['shop'],
            distribute: 'reference',
          },
          sale: { source: csv('a.csv'), ...keyed, foreignKeys: [{ columns: 'shop', references: 'shop' }] },
        },
      });
    sales('a.csv', 0, 100);
    await run(pipeline());
    sales('a.csv', 0, 120);
    const { tables } = await run(pipeline(), { fullRefresh: true });
    expect(tables).toMatchObject([{ strategy: 'swap' }, { strategy: 'swap' }]);
    expect(await distributionOf('refers.shop')).toMatchObject([{ type: 'reference' }]);
    expect(await totals('refers.sale')).toEqual({ rows: 120, amount: sum(0, 120) });
    expect(
      await rowsOf(
        `select conname from pg_constraint where contype = 'f' and conrelid = 'refers.sale'::regclass`,
      ),
    ).toEqual([{ conname: 'sale_shop_fkey' }]);
  });

  it.each(['append', 'merge'] as const)(
    '%s: a table with a foreign key to a reference table is published again and again',
    async (publish) => {
      files.write('shop.csv', shops);
      const pipeline = (...names: string[]) =>
        definePipeline({
          name: `refers_${publish}`,
          schema: `refers_${publish}`,
          tables: {
            sale: {
              source: csv(names),
              ...keyed,
              publish,
              storage: { fillfactor: 80 },
              foreignKeys: [{ columns: 'shop', references: 'shop' }],
            },
            shop: {
              source: csv('shop.csv'),
              columns: { shop: column.text('shop') },
              primaryKey: ['shop'],
              publish,
              distribute: 'reference',
            },
          },
        });
      for (const [at, name] of ['f0.csv', 'f1.csv', 'f2.csv'].entries())
        sales(name, at * 100, at * 100 + 100);
      await run(pipeline('f0.csv'));
      await run(pipeline('f0.csv', 'f1.csv'));
      await run(pipeline('f0.csv', 'f1.csv', 'f2.csv'));
      await run(pipeline('f0.csv', 'f1.csv', 'f2.csv'), { fullRefresh: publish === 'append' });
      expect(await totals(`refers_${publish}.sale`)).toEqual({ rows: 300, amount: sum(0, 300) });
    },
  );

  const reload = { mode: 'append', changed: 'reload' } as const;

  it.each([
    { name: 'parents', items: reload },
    { name: 'replaced_children', items: 'replace' },
  ] as const)('append: a changed file is loaded again, referred to by $name', async ({ name, items }) => {
    const pipeline = () =>
      definePipeline({
        name,
        schema: name,
        tables: {
          sale: { source: csv('parent*.csv'), ...keyed, publish: reload },
          item: {
            source: csv('item.csv'),
            columns: { id: column.integer('id'), shop: column.text('shop') },
            primaryKey: ['id', 'shop'],
            foreignKeys: [{ columns: ['id', 'shop'], references: 'sale' }],
            publish: items,
            distribute: { by: 'shop', with: 'sale' },
          },
        },
      });
    sales('parent1.csv', 0, 100);
    sales('parent2.csv', 100, 200);
    sales('item.csv', 0, 200);
    await run(pipeline());
    sales('parent1.csv', 0, 100, 2);
    sales('item.csv', 0, 150);
    await run(pipeline());
    expect(await totals(`${name}.sale`)).toEqual({ rows: 200, amount: sum(0, 100, 2) + sum(100, 200) });
  });

  it('merge: rows of a reference table are inserted, updated and deleted', async () => {
    const pipeline = (...names: string[]) =>
      definePipeline({
        name: 'rates',
        schema: 'rates',
        tables: {
          rate: {
            source: csv(names),
            columns: { code: column.text('code'), rate: column.integer('rate') },
            primaryKey: ['code'],
            publish: { mode: 'merge', deleted: oneOf('op', ['D']) },
            distribute: 'reference',
          },
        },
      });
    files.write('r1.csv', 'code,rate,op\na,1,\nb,1,\nc,1,\n');
    files.write('r2.csv', 'code,rate,op\na,2,\nb,1,D\nd,1,\n');
    await run(pipeline('r1.csv'));
    await run(pipeline('r1.csv', 'r2.csv'));
    expect(await rowsOf('select code, rate from rates.rate order by code')).toEqual([
      { code: 'a', rate: 2 },
      { code: 'c', rate: 1 },
      { code: 'd', rate: 1 },
    ]);
  });

  it('data tests of each kind run, and show failing rows', async () => {
    sales('tested.csv', 0, 100);
    files.write('tested.sql', 'select * from sale where id > 97');
    const severity = 'warn';
    const tests = [
      expected.between('amount', 0, 50, { severity }),
      expected.unique('amount', { severity }),
      expected.sql('tested.sql', { severity }),
    ];
    await run(inMode('tested', 'replace', ['tested.csv'], { tests }));
    expect(
      await rowsOf(
        `select kind, failures::int, json_array_length(rows) as shown from etl.data_test order by place`,
      ),
    ).toEqual([
      { kind: 'between', failures: 49, shown: 10 },
      { kind: 'unique', failures: 0, shown: 0 },
      { kind: 'sql', failures: 2, shown: 2 },
    ]);
  });

  it('append: rows are added, those of changed files replaced, and those of removed files deleted', async () => {
    const appended = (...names: string[]) =>
      inMode('added', { mode: 'append', changed: 'reload', gone: 'unload' }, names);
    sales('p1.csv', 0, 500);
    sales('p2.csv', 500, 900);
    await run(appended('p1.csv'));
    expect((await run(appended('p1.csv', 'p2.csv'))).tables).toMatchObject([
      { strategy: 'append', rows: 900 },
    ]);
    sales('p2.csv', 500, 950, 2);
    await run(appended('p1.csv', 'p2.csv'));
    expect(await totals('added.sale')).toEqual({ rows: 950, amount: sum(0, 500) + sum(500, 950, 2) });
    await run(appended('p2.csv'), { allowShrink: ['sale'] });
    expect(await totals('added.sale')).toEqual({ rows: 450, amount: sum(500, 950, 2) });
    expect(await distributionOf('added.sale')).toMatchObject([{ type: 'distributed' }]);
  });

  it('merge: rows are inserted, updated and left alone', async () => {
    sales('m1.csv', 0, 500);
    sales('m2.csv', 400, 900, 2);
    await run(inMode('merged', 'merge', ['m1.csv']));
    const { tables } = await run(inMode('merged', 'merge', ['m1.csv', 'm2.csv']));
    expect(tables).toMatchObject([{ strategy: 'merge', changes: { inserted: 400, updated: 100 } }]);
    expect(await totals('merged.sale')).toEqual({ rows: 900, amount: sum(0, 400) + sum(400, 900, 2) });
  });

  it('history: earlier versions end', async () => {
    sales('h1.csv', 0, 500);
    sales('h2.csv', 400, 900, 2);
    await run(inMode('told', 'history', ['h1.csv']));
    await run(inMode('told', 'history', ['h1.csv', 'h2.csv']));
    expect(await totals('told.sale where valid_to is null')).toEqual({
      rows: 900,
      amount: sum(0, 400) + sum(400, 900, 2),
    });
    expect(await totals('told.sale where valid_to is not null')).toEqual({
      rows: 100,
      amount: sum(400, 500),
    });
  });

  it('a table made by SQL is with the table that it is made from, and is merged', async () => {
    files.write('total.sql', 'select shop, sum(amount)::bigint as amount from sale group by shop');
    const pipeline = (...names: string[]) =>
      definePipeline({
        name: 'made',
        schema: 'made',
        tables: {
          sale: { source: csv(names), ...keyed, publish: 'append' },
          total: {
            from: ['sale'],
            transform: sqlFile('total.sql'),
            primaryKey: ['shop'],
            distribute: { by: 'shop', with: 'sale' },
            publish: 'merge',
          },
        },
      });
    sales('d1.csv', 0, 500);
    sales('d2.csv', 500, 900);
    await run(pipeline('d1.csv'));
    await run(pipeline('d1.csv', 'd2.csv'));
    expect(await totals('made.total')).toEqual({ rows: 7, amount: sum(0, 900) });
    const [sale, total] = [await distributionOf('made.sale'), await distributionOf('made.total')];
    expect(total[0]!.colocation).toBe(sale[0]!.colocation);
  });

  it.each(['merge', 'history'] as const)(
    'SQL that reads distributed tables of mode %s sees the rows that they will have',
    async (publish) => {
      files.write('empty.sql', 'select * from bill left join line using (shop, no) where price > 5');
      files.write(
        'joined.sql',
        `select shop, sum(price)::integer as price, count(distinct no)::integer as bills
          from bill left join line using (shop, no) group by shop`,
      );
      const part = (night: string) => ({
        bill: files.write(
          `${publish}_bill_${night}.csv`,
          `shop,no\na,${night}\n${night === '2' ? 'c,1\n' : ''}`,
        ),
        line: files.write(
          `${publish}_line_${night}.csv`,
          `shop,no,price\na,${night},1\n${night === '2' ? 'c,1,3\n' : ''}`,
        ),
      });
      const key = { shop: column.text('shop'), no: column.integer('no') };
      const name = `seen_${publish}`;
      const pipeline = (parts: readonly ReturnType<typeof part>[]) =>
        definePipeline({
          name,
          schema: name,
          tables: {
            bill: {
              source: csv(parts.map(({ bill }) => bill)),
              columns: key,
              primaryKey: ['shop', 'no'],
              publish,
              distribute: { by: 'shop' },
              tests: [expected.notNull('no'), expected.sql('empty.sql')],
            },
            line: {
              source: csv(parts.map(({ line }) => line)),
              columns: { ...key, price: column.integer('price') },
              primaryKey: ['shop', 'no'],
              publish,
              distribute: { by: 'shop', with: 'bill' },
            },
            total: {
              from: ['bill', 'line'],
              transform: sqlFile('joined.sql'),
              primaryKey: ['shop'],
              distribute: { by: 'shop', with: 'bill' },
            },
          },
        });
      const first = part('1');
      await run(pipeline([first]));
      await run(pipeline([first, part('2')]));
      expect(await rowsOf(`select * from ${name}.total order by shop`)).toEqual([
        { shop: 'a', price: 2, bills: 2 },
        { shop: 'c', price: 3, bills: 1 },
      ]);
    },
  );

  it('verify, plan, rollback and prune work with a table that was swapped', async () => {
    const kept = () => `import { column, csv, definePipeline } from 'sluice';
      export default definePipeline({ name: 'kept', schema: 'kept', tables: { sale: { source: csv('k.csv'),
        columns: { id: column.integer('id'), shop: column.text('shop'), amount: column.integer('amount') },
        foreignKeys: [{ columns: 'shop', references: 'shop' }],
        primaryKey: ['id', 'shop'], distribute: { by: 'shop' }, keep: 2 },
        shop: { source: csv('ks*.csv'), columns: { shop: column.text('shop') }, primaryKey: ['shop'], distribute: 'reference', keep: 2 } } });`;
    files.write('ks1.csv', shops);
    const path = files.write('kept.ts', kept());
    sales('k.csv', 0, 100);
    expect((await etl('run', path)).exit).toBe(0);
    sales('k.csv', 0, 110);
    files.write('ks2.csv', 'shop\nnew\n');
    expect((await etl('plan', path)).out).toContain('swap');
    expect((await etl('run', path)).exit).toBe(0);
    expect((await etl('verify', path)).exit).toBe(0);
    expect((await etl('rollback', path)).err).toBe('');
    expect(await totals('kept.sale')).toEqual({ rows: 100, amount: sum(0, 100) });
    expect(await distributionOf('kept.sale')).toMatchObject([{ type: 'distributed', by: 'shop' }]);
    expect((await etl('prune')).exit).toBe(0);
  });

  it.each(['append', 'merge', 'replace'])(
    'etl load --%s into an existing distributed table',
    async (mode) => {
      const table = `loaded_${mode}`;
      await database.query(
        `create table ${table} (id integer, shop text, amount integer, primary key (id, shop))`,
      );
      await database.query(`select create_distributed_table('${table}', 'shop')`);
      await database.query(`insert into ${table} values (1000, 's1', 1000), (1, 's1', 0)`);
      sales('l.csv', mode === 'append' ? 2 : 0, 100);
      const { err, exit } = await etl('load', 'l.csv', '--into', table, `--${mode}`, '--save', `${mode}.ts`);
      expect({ err, exit }).toMatchObject({ exit: 0 });
      expect(readFileSync(join(files.directory, `${mode}.ts`), 'utf8')).toContain(
        `distribute: { by: 'shop' },`,
      );
      const [rows, amount] = { append: [100, 5949], merge: [101, 5950], replace: [100, 4950] }[mode]!;
      expect(await totals(table)).toEqual({ rows, amount });
      expect(await etl('run', join(files.directory, `${mode}.ts`))).toMatchObject({ exit: 0 });
      expect(await distributionOf(table)).toMatchObject([{ type: 'distributed', by: 'shop' }]);
    },
  );

  it('a distributed table that the definition does not distribute stays, and its rows are replaced', async () => {
    sales('a.csv', 0, 100);
    await run(inMode('stays', 'replace', ['a.csv']));
    sales('a.csv', 0, 120);
    const { tables } = await run(inMode('stays', 'replace', ['a.csv'], { distribute: undefined }));
    expect(tables).toMatchObject([{ strategy: 'in place', rows: 120 }]);
    expect(await distributionOf('stays.sale')).toMatchObject([{ type: 'distributed' }]);
    const error = await failureOf(run(inMode('stays', 'replace', ['a.csv'], { distribute: 'reference' })));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
  });

  it('a node that is down is named, by the run and by `etl doctor`', async () => {
    const pipeline = inMode('down', 'replace', ['small.csv']);
    sales('small.csv', 0, 100);
    const [worker] = await citusWorkers();
    const node = await killableNode(worker!);
    node.kill();
    try {
      const name = `${worker!.host}:${worker!.port}`;
      expect(await failureOf(run(pipeline, { waitMs: 500 }))).toMatchObject({
        code: 'ETL_SERVER_LOST',
        message: expect.stringMatching(new RegExp(`^.*${name} failed with the following error: .*$`)),
      });
      const { exit, out } = await etl('doctor');
      expect({ exit, out }).toEqual({ exit: 1, out: expect.stringContaining(`no answer from ${name}`) });
    } finally {
      await node.start();
    }
    await run(pipeline);
    expect((await etl('doctor')).out).toMatch(/^ok +Citus +2 worker nodes$/m);
  });

  describe('killed', () => {
    const rows = 100_000;
    const events = {
      loading: ({ type }: RunEvent) => type === 'progress',
      building: (event: RunEvent) => event.type === 'building' && event.what === 'indexes',
      publishing: (event: RunEvent) => event.type === 'step' && event.step === 'publish',
    } as const;

    it.each([
      { node: 'worker', at: 'loading', staging: 'none' },
      { node: 'worker', at: 'building', staging: 'typed' },
      { node: 'worker', at: 'publishing', staging: 'typed' },
      { node: 'coordinator', at: 'loading', staging: 'typed' },
      { node: 'coordinator', at: 'loading', staging: 'none' },
      { node: 'coordinator', at: 'publishing', staging: 'typed' },
    ] as const)(
      'a $node while $at, staging $staging: a later run is right',
      async ({ node, at, staging }) => {
        const own = new URL(citusUrl!);
        const coordinator = { host: own.hostname, port: Number(own.port) };
        const killed = await killableNode(node === 'worker' ? (await citusWorkers())[0]! : coordinator);
        const name = `${node}_${at}_${staging}`;
        sales('big.csv', 0, rows);
        let starting: Promise<void> | undefined;
        const onEvent = (event: RunEvent): void => {
          if (starting !== undefined || !events[at](event)) return;
          killed.kill();
          starting = sleep(1_000).then(killed.start);
        };
        const pipeline = inMode(name, 'replace', ['big.csv'], { staging });
        // It fails with a code, or waits and succeeds.
        const end = await run(pipeline, { onEvent, chunkBytes: 256 * 1024 }).then(
          () => 'published',
          (error: unknown) => String((error as { code?: unknown }).code),
        );
        expect(end).toMatch(/^(published$|ETL_)/);
        expect(starting).toBeDefined();
        await starting;
        await askAt(database.url, 'select recover_prepared_transactions()');
        await run(pipeline);
        expect(
          await askAt(
            database.url,
            `select count(*)::int as rows, sum(amount)::float8 as amount from ${name}.sale`,
          ),
        ).toEqual([{ rows, amount: sum(0, rows) }]);
      },
    );
  });
});
