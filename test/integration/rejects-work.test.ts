// Rejects as somebody works with them: limits of a run, one record in full, a CSV of the records.

import { expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, type Pipeline } from '../../src/index.ts';
import { rejectsCollectedMax } from '../../src/limits.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();
const options = () => ({ databaseUrl: database.url, workers: 1 });

/** Two tables, each of a file with `bad` of 10 records rejected. */
const twoTables = (name: string, rejectLimit: number | `${number}%`, bad: number): Pipeline => {
  const table = (each: string) => {
    const records = Array.from({ length: 10 }, (_, index) => (index < bad ? 'x' : String(index)));
    const source = csv(files.write(`${name}_${each}.csv`, `id\n${records.join('\n')}\n`));
    return { source, columns: { id: column.integer('id') }, rejectLimit: '50%' } as const;
  };
  return definePipeline({ name, schema: name, rejectLimit, tables: { a: table('a'), b: table('b') } });
};

it.each([
  { limit: 3, shown: '3' },
  { limit: '19%', shown: '19%' },
] as const)(
  'all tables together are over the limit $limit of the run: nothing is published',
  async (given) => {
    const { limit, shown } = given;
    const name = `over_${shown.length}`;
    const error = await failureOf(runPipeline(twoTables(name, limit, 2), options()));
    expect(error).toMatchObject({ code: 'ETL_REJECT_LIMIT', exit: 3, details: { rejected: 4, records: 20 } });
    expect(error.message).toMatch(
      new RegExp(`^all tables together: 4 of 20 records rejected, the limit is ${shown};`),
    );
    expect(error.message).toContain(`${name}_b.csv`);
    const { rows } = await database.query(`select to_regclass('${name}.a') as table`);
    expect(rows).toEqual([{ table: null }]);
  },
);

it('all tables together are at the limit of the run: they are published', async () => {
  expect(await runPipeline(twoTables('within', 4, 2), options())).toMatchObject({ outcome: 'published' });
});

it('a run that is hopelessly over its limit stops early, though each table allows every reject', async () => {
  const bad = `id\n${'x\n'.repeat(3 * rejectsCollectedMax)}`;
  const table = { source: csv(files.write('bad.csv', bad)), columns: { id: column.integer('id') } };
  const name = 'hopeless';
  const tables = { a: { ...table, rejectLimit: '100%' }, b: { ...table, rejectLimit: '100%' } } as const;
  const pipeline = definePipeline({ name, schema: name, rejectLimit: 0, tables });
  const error = await failureOf(runPipeline(pipeline, options()));
  expect(error.message).toContain('records read so far rejected, the limit is 0');
  expect(error.details['rejected']).toBe(rejectsCollectedMax);
});
