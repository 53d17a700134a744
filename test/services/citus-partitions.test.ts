// Distributed tables with partitions, on a real Citus cluster (CITUS_URL): every mode that takes partitions.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, range, type RunEvent } from '../../src/index.ts';
import { askAt, citusUrl, citusWorkers, createCitusDatabase } from '../helpers/citus.ts';
import { killableNode } from '../helpers/citus-node.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { useDatabase } from '../helpers/server.ts';

describe.skipIf(citusUrl === undefined)('with Citus, partitions', () => {
  const { files, database, notices, rowsOf, run, etl } = usePipelineRuns(
    {},
    useDatabase(createCitusDatabase),
  );

  /** Row `id` is of shop id % 7, and of one of the `months` of 2026, which follow each other in the file. */
  const sales = (name: string, rows: number, months: readonly number[], factor = 1): string =>
    files.write(
      name,
      `id,shop,day,amount\n${Array.from({ length: rows }, (_, id) => {
        const month = months[Math.floor((id * months.length) / rows)]!;
        return `${id + months[0]! * 1_000_000},${id % 7},2026-0${month}-1${id % 10},${factor}`;
      }).join('\n')}\n`,
    );
  const columns = {
    id: column.integer('id'),
    shop: column.integer('shop'),
    day: column.date('day'),
    amount: column.integer('amount'),
  };
  const table = {
    columns,
    primaryKey: ['id', 'shop', 'day'] as const,
    indexes: [index('amount')],
    partitionBy: range('day', 'month'),
    distribute: { by: 'shop' } as const,
    guard: false as const,
  };
  const pipeline = (name: string, publish: object | string, names: readonly string[]) =>
    definePipeline({
      name,
      schema: name,
      tables: { sale: { source: csv([...names]), ...table, publish: publish as 'append' } },
    });

  const sums = (name: string) =>
    rowsOf(
      `select extract(month from day)::int as month, count(*)::int as rows, sum(amount)::int as amount from ${name}.sale group by 1 order by 1`,
    );
  /** Of the table and of each partition. */
  const stored = (name: string) =>
    rowsOf(`select c.relname as name, c.oid::int, d.colocationid as at, c.relpersistence as is
      from pg_class c left join pg_dist_partition d on d.logicalrelid = c.oid
      where c.relnamespace = '${name}'::regnamespace and c.relkind in ('r', 'p') order by 1`);
  const allAlike = async (name: string, partitions: number): Promise<void> => {
    const found = await stored(name);
    expect(found.map(({ at, is }) => ({ at, is }))).toEqual(
      Array.from({ length: partitions + 1 }, () => ({ at: found[0]!.at, is: 'p' })),
    );
    expect(found[0]!.at).not.toBeNull();
  };

  it('replace: all are swapped, and those of months that are gone are dropped', async () => {
    sales('r.csv', 900, [1, 2, 3]);
    await run(pipeline('whole', 'replace', ['r.csv']));
    await allAlike('whole', 3);
    const [before] = await stored('whole');
    sales('r.csv', 800, [2, 3, 4, 5], 2);
    const { tables } = await run(pipeline('whole', 'replace', ['r.csv']));
    expect(tables).toMatchObject([{ strategy: 'partitions', rows: 800 }]);
    expect(notices.join()).not.toContain('in place');
    expect(await sums('whole')).toEqual([2, 3, 4, 5].map((month) => ({ month, rows: 200, amount: 400 })));
    await allAlike('whole', 4);
    const [after] = await stored('whole');
    expect(after).toMatchObject({ at: before!.at });
    expect(after!.oid).not.toBe(before!.oid);
    const indexes = await rowsOf(
      `select indexname as name from pg_indexes where schemaname = 'whole' and tablename = 'sale' order by 1`,
    );
    expect(indexes).toEqual([{ name: 'sale_amount_idx' }, { name: 'sale_pkey' }]);
  });

  it("only: 'touched': partitions without new rows stay the tables that they are", async () => {
    const touched = (...names: string[]) => pipeline('touched', { mode: 'replace', only: 'touched' }, names);
    sales('t1.csv', 600, [1, 2]);
    sales('t2.csv', 600, [2, 3]);
    await run(touched('t1.csv', 't2.csv'));
    const before = await stored('touched');
    sales('t2.csv', 400, [2, 4], 3);
    const { tables } = await run(touched('t1.csv', 't2.csv'));
    expect(tables).toMatchObject([{ strategy: 'partitions' }]);
    expect(await sums('touched')).toEqual([
      { month: 1, rows: 300, amount: 300 },
      { month: 2, rows: 500, amount: 900 },
      { month: 4, rows: 200, amount: 600 },
    ]);
    const after = await stored('touched');
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    await allAlike('touched', 3);
  });

  it.each(['append', 'merge'])(
    '%s: missing partitions are added, and distributed as the table',
    async (mode) => {
      sales('m1.csv', 600, [1, 2]);
      await run(pipeline(mode, mode, ['m1.csv']));
      sales('m2.csv', 300, [3, 4, 5], 2);
      await run(pipeline(mode, mode, ['m1.csv', 'm2.csv']));
      expect(await sums(mode)).toEqual([
        ...[1, 2].map((month) => ({ month, rows: 300, amount: 300 })),
        ...[3, 4, 5].map((month) => ({ month, rows: 100, amount: 200 })),
      ]);
      await allAlike(mode, 5);
    },
  );

  it('a table made by SQL has partitions, and verify and plan work', async () => {
    files.write('total.sql', 'select shop, day, sum(amount)::bigint as amount from sale group by 1, 2');
    const path = files.write(
      'made.ts',
      `import { column, csv, definePipeline, range, sqlFile } from 'sluice';
      const as = { partitionBy: range('day', 'month'), distribute: { by: 'shop' } } as const;
      export default definePipeline({ name: 'made', schema: 'made', tables: {
        sale: { source: csv('d.csv'), columns: { id: column.integer('id'), shop: column.integer('shop'),
          day: column.date('day'), amount: column.integer('amount') }, ...as },
        total: { from: ['sale'], transform: sqlFile('total.sql'), primaryKey: ['shop', 'day'], ...as } } });`,
    );
    sales('d.csv', 700, [1, 2]);
    expect((await etl('run', path)).exit).toBe(0);
    sales('d.csv', 700, [1, 2], 2);
    expect((await etl('plan', path)).out).toContain('partitions');
    expect((await etl('run', path)).exit).toBe(0);
    expect((await etl('verify', path)).exit).toBe(0);
    expect(await rowsOf('select sum(amount)::int as amount from made.total')).toEqual([{ amount: 1400 }]);
    await allAlike('made', 5);
  });

  it.each(['building', 'publishing'] as const)(
    'a worker node is killed while %s: a later run is right',
    async (at) => {
      const killed = await killableNode((await citusWorkers())[0]!);
      let starting: Promise<void> | undefined;
      const onEvent = (event: RunEvent): void => {
        const isNow =
          at === 'building' ? event.type === 'building' : event.type === 'step' && event.step === 'publish';
        if (starting !== undefined || !isNow) return;
        killed.kill();
        starting = sleep(1_000).then(killed.start);
      };
      const name = `killed_${at}`;
      sales('k.csv', 20_000, [1, 2, 3, 4]);
      await run(pipeline(name, 'replace', ['k.csv']));
      sales('k.csv', 20_000, [2, 3, 4, 5], 2);
      const end = await run(pipeline(name, 'replace', ['k.csv']), { onEvent }).then(
        () => 'published',
        (error: unknown) => String((error as { code?: unknown }).code),
      );
      expect(end).toMatch(/^(published$|ETL_)/);
      expect(starting).toBeDefined();
      await starting;
      await askAt(database.url, 'select recover_prepared_transactions()');
      await run(pipeline(name, 'replace', ['k.csv']));
      expect(
        await askAt(
          database.url,
          `select count(*)::int as rows, sum(amount)::int as amount from ${name}.sale`,
        ),
      ).toEqual([{ rows: 20_000, amount: 40_000 }]);
    },
  );
});
