// Eight processes that start at once on an empty database, each with a pipeline of its own.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const { write, directory } = useFiles();
const execute = promisify(execFile);

const etl = async (number: number): Promise<string> => {
  const source = write(`source${number}.csv`, `id\n${number}\n`);
  const file = write(
    `pipeline${number}.ts`,
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: 'p${number}', schema: 'shared', tables: {
      t${number}: { source: csv(${JSON.stringify(source)}), columns: { id: column.integer('id') }, primaryKey: ['id'] } } });`,
  );
  const bin = join(process.cwd(), 'src/cli/etl.mjs');
  const { stderr } = await execute(process.execPath, [bin, 'run', file, '--workers', '1', '--quiet'], {
    cwd: directory,
    env: { ...process.env, DATABASE_URL: database.url },
  });
  return stderr;
};

it('all succeed, without a word on stderr', { timeout: 180_000 }, async () => {
  const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
  expect(await Promise.all(numbers.map(etl))).toEqual(numbers.map(() => ''));
  const { rows } =
    await database.query(`select count(*)::int as runs, count(distinct pipeline)::int as pipelines
    from etl.run where state = 'published'`);
  expect(rows).toEqual([{ runs: 8, pipelines: 8 }]);
  const tables = await database.query(`select count(*)::int as n from pg_tables where schemaname = 'shared'`);
  expect(tables.rows).toEqual([{ n: 8 }]);
});
