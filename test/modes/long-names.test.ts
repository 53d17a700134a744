// Tables with names as long as the server keeps: what is made beside them, in staging, in the build and in the rehearsal, has names of
// its own, where the server would otherwise cut two to one.

import { expect, it } from 'vitest';
import { column, csv, definePipeline, expect as expected, index, range, sqlFile } from '../../src/index.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, rowsOf, run } = usePipelineRuns();

const long = (bytes: number, end: string): string => `${'x'.repeat(bytes - end.length)}${end}`;
/** As long as a definition allows: `s__` is before them in the staging schema, and `__part` or `__file_idx` behind those of some files. */
const names = {
  whole: long(60, '_a'),
  wholeToo: long(60, '_b'),
  appended: long(57, '_a'),
  appendedToo: long(57, '_b'),
  divided: long(53, '_a'),
  total: long(60, '_c'),
};

const base = { id: column.integer('id'), day: column.date('day') };

const shop = (more: object, evolve: 'refuse' | 'add') =>
  definePipeline({
    name: 's',
    schema: 'shop',
    // Each table in its own way, whatever the others do.
    snapshotWaitMs: false,
    tables: {
      ...Object.fromEntries(
        [names.whole, names.wholeToo].map((name) => [
          name,
          { source: csv('in/*.csv'), columns: base, primaryKey: ['id'], keep: 1 },
        ]),
      ),
      ...Object.fromEntries(
        [names.appended, names.appendedToo].map((name) => [
          name,
          {
            source: csv('in/*.csv'),
            columns: { ...base, ...more },
            primaryKey: ['id'],
            indexes: [index('day')],
            publish: 'append' as const,
            tests: [expected.unique('id')],
            evolve,
            missing: 'null' as const,
          },
        ]),
      ),
      [names.divided]: {
        source: csv('in/*.csv'),
        columns: base,
        primaryKey: ['id', 'day'],
        partitionBy: range('day', 'month'),
        publish: { mode: 'replace', only: 'touched' },
      },
      [names.total]: { from: [names.appended], transform: sqlFile('total.sql'), keep: 1 },
    },
  });

it('tables whose long names differ in their ends alone are loaded, appended to, altered and divided', async () => {
  files.write('total.sql', `select count(*)::int as sales, max(id) as last from ${names.appended}`);
  files.write('in/1.csv', 'id,day\n1,2026-01-05\n2,2026-02-01\n');
  await run(shop({}, 'refuse'));
  files.write('in/2.csv', 'id,day,note\n3,2026-02-02,c\n');
  const noted = shop({ note: column.text('note').nullable() }, 'add');
  const { tables } = await run(noted);
  expect(tables.map(({ table, strategy, rows }) => [table, strategy, rows])).toEqual([
    [names.whole, 'swap', 3],
    [names.wholeToo, 'swap', 3],
    [names.appended, 'append', 3],
    [names.appendedToo, 'append', 3],
    [names.divided, 'partitions', 3],
    [names.total, 'swap', 1],
  ]);
  expect((await run(noted)).outcome).toBe('unchanged');
  const texts = Object.values(names).map(
    (name) =>
      `select '${name}' as name, string_agg(t::text, ' ' order by t::text) as rows from shop.${name} t`,
  );
  expect(await rowsOf(texts.join(' union all '))).toMatchObject([
    { name: names.whole, rows: expect.stringMatching(/^\(1,.*\) \(2,.*\) \(3,.*\)$/) },
    { name: names.wholeToo, rows: expect.stringMatching(/^\(1,.*\) \(2,.*\) \(3,.*\)$/) },
    { name: names.appended, rows: expect.stringMatching(/^\(1,.*\) \(2,.*\) \(3,.*c\)$/) },
    { name: names.appendedToo, rows: expect.stringMatching(/^\(1,.*\) \(2,.*\) \(3,.*c\)$/) },
    { name: names.divided, rows: expect.stringMatching(/^\(1,.*\) \(2,.*\) \(3,.*\)$/) },
    { name: names.total, rows: '(3,3)' },
  ]);
});
