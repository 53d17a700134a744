// Distributed tables on a real Citus cluster: every mode and staging. Runs where CITUS_URL names a coordinator;
// test/modes/distribution.test.ts has what runs everywhere.

import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, type Pipeline } from '../../src/index.ts';
import { citusUrl, createCitusDatabase } from '../helpers/citus.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { useDatabase } from '../helpers/server.ts';

describe.skipIf(citusUrl === undefined)('with Citus', () => {
  const { files, notices, rowsOf, one, run } = usePipelineRuns({}, useDatabase(createCitusDatabase));

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
});
