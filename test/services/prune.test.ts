// `etl prune`: old runs are deleted in short transactions, and nothing that anybody still needs.

import { expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import {
  column,
  csv,
  definePipeline,
  listFiles,
  rollbackPipeline,
  runPipeline,
  verifyPipeline,
  type Pipeline,
} from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const files = useFiles();
const database = useDatabase();
const one = async (sql: string): Promise<unknown> =>
  Object.values((await database.query(sql)).rows[0] as Record<string, unknown>)[0];

const pipeline = (name: string, change: object): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      sale: { source: csv(`${name}/*.csv`), columns: { id: column.integer('id') }, guard: false, ...change },
    },
  });
const kept = pipeline('kept', { keep: 2 });
const appended = pipeline('appended', { publish: 'append', rejectLimit: 1, lineage: ['_file'] });

const options = () => ({
  databaseUrl: database.url,
  directory: files.directory,
  workingDirectory: files.directory,
});
const night = async (given: Pipeline, number: number): Promise<void> => {
  // One record is rejected.
  files.write(
    `${given.name}/${number}.csv`,
    `id\n${number}\n${given === appended && number === 1 ? 'x\n' : ''}`,
  );
  await runPipeline(given, { ...options(), workers: 1 });
};
const prune = async (...args: string[]): Promise<unknown> => {
  const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
  io.advance(Date.now() - io.clock());
  expect(await main(['prune', '--json', ...args], io), io.stderr.text).toBe(0);
  return JSON.parse(io.stdout.text);
};
const runs = () => one(`select string_agg(id::text, ' ' order by id) from etl.run where id <= 9`);

/** Runs 10 to 2,009, and one of many chunks, all of a pipeline that has a newer run. */
const addHistory = (): Promise<unknown> =>
  database.query(`
    insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch, finished_at)
      select 'old', case when n % 3 = 0 then 'failed' else 'published' end, '', '{}', 'host', 1, 1, gen_random_uuid(),
        now() - interval '100 days' from generate_series(1, 2000) n;
    insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch)
      values ('old', 'loading', '', '{}', 'host', 1, 1, gen_random_uuid());
    insert into etl.source_file (run_id, table_name, ordinal, location, name, bytes, fingerprint, header, data_byte, data_line)
      select id, 't', 0, '/f', 'f', 1, '', '{}', 0, 1 from etl.run where pipeline = 'old';
    insert into etl.chunk (file_id, byte_start, byte_end, first_line, first_record, lines, records, copied, rejected, filtered, epoch)
      select f.id, n, n + 1, n, n, 1, 1, 1, 0, 0, gen_random_uuid()
        from etl.source_file f join etl.run r on r.id = f.run_id and r.pipeline = 'old',
          generate_series(1, case when r.id = 10 then 45000 else 2 end) n;
    insert into etl.reject (run_id, table_name, file_id, byte, line, record, code, reason, raw)
      select f.run_id, 't', f.id, 0, 1, 1, 'type', 'wrong', 'x' from etl.source_file f join etl.run r on r.id = f.run_id
        where r.pipeline = 'old';
    insert into etl.failure (pipeline, queue, host, pid, error_code, error, failed_at)
      values ('old', 'default', 'host', 1, 'ETL_GUARD', 'x', now() - interval '100 days')`);

it('deletes old runs and all that is theirs, and leaves whatever is needed', async () => {
  for (const number of [1, 2, 3, 4]) await night(kept, number);
  for (const number of [1, 2, 3]) await night(appended, number);
  await database.query(`insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch, finished_at)
    select 'kept', 'failed', '', '{}', 'host', 1, 1, gen_random_uuid(), now() from generate_series(1, 2)`);
  await addHistory();
  await database.query(`update etl.run set finished_at = finished_at - interval '91 days' where id <= 9;
    update etl.run set hook_pending = true where id = 8`);
  const counted = (await prune('--dry-run')) as Record<string, number>;
  expect(await runs()).toBe('1 2 3 4 5 6 7 8 9');
  const deleted = (await prune()) as Record<string, number>;
  expect(deleted).toEqual(counted);
  expect(deleted).toMatchObject({ runs: 3 + 1_999, rejects: 1 + 1_999, failures: 1, versions: 0 });
  // Kept, kept, in production; in production; one whose hook was cut off; the newest, which may be continued.
  expect(await runs()).toBe('2 3 4 7 8 9');
  expect(await one(`select string_agg(run_id::text, ' ' order by run_id) from etl.run_plan`)).toBe('2 3 4 7');
  expect(await one(`select count(*)::int from etl.run where pipeline = 'old'`)).toBe(2);
  expect(
    await one(`select count(*)::int || ' ' || (select count(*) from etl.chunk) from etl.reject`),
  ).toMatch(/^2 /);
  expect(deleted['chunks']).toBeGreaterThan(45_000);
  expect(await prune()).toMatchObject({ runs: 0, files: 0, chunks: 0, rejects: 0 });
  // What goes on from here is as if nothing had been deleted.
  const states = await listFiles(appended, options());
  expect(states.map(({ state }) => state)).toEqual(['in production', 'in production', 'in production']);
  expect((await runPipeline(appended, options())).outcome).toBe('unchanged');
  expect((await verifyPipeline(appended, options())).tables).toMatchObject([
    {
      outcome: 'same',
      rows: 3,
      files: [
        { file: 'appended/2.csv', rows: 1 },
        { file: 'appended/3.csv', rows: 1 },
      ],
      notCompared: [
        { file: 'appended/1.csv', reason: 'run 5 was pruned, so it is not known which 1 record it left out' },
      ],
    },
  ]);
  expect(await rollbackPipeline(kept, options())).toMatchObject({ to: 3 });
  expect(await rollbackPipeline(kept, { ...options(), to: 2 })).toMatchObject({ to: 2 });
  expect(await one('select count(*)::int from kept.sale')).toBe(2);
  expect(await prune('--older', '1w', '--kept')).toMatchObject({ versions: 0 });
  await database.query(`update etl.kept_table set kept_at = now() - interval '9 days'`);
  expect(await prune('--older', '1w', '--kept', '--dry-run')).toMatchObject({ versions: 2 });
  expect(await prune('--older', '1w', '--kept')).toMatchObject({ versions: 2 });
  expect(
    await one(
      `select count(*)::int from pg_class where relnamespace = 'etl_kept'::regnamespace and relkind = 'r'`,
    ),
  ).toBe(0);
});

it('a file takes its rejects along by an index, and ages are written rightly', async () => {
  await database.query('set enable_seqscan = off');
  const { rows } = await database.query('explain delete from etl.reject where file_id = 1');
  expect(JSON.stringify(rows)).toContain('reject_file');
  const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
  expect(await main(['prune', '--older', 'soon'], io)).toBe(2);
  expect(io.stderr.text).toContain("'soon' is not an age such as 12h, 90d or 8w");
});

it('beside runs that are going on, it keeps them and what they need', async () => {
  const busy = pipeline('busy', { keep: 1 });
  let isOver = false;
  const pruneAll = async (): Promise<number> => {
    let deleted = 0;
    while (!isOver) deleted += ((await prune('--older', '0h')) as { runs: number }).runs;
    return deleted;
  };
  const pruning = pruneAll();
  for (const number of [1, 2, 3, 4, 5]) await night(busy, number);
  isOver = true;
  const deleted = await pruning;
  expect(await one('select count(*)::int from busy.sale')).toBe(5);
  expect((await runPipeline(busy, options())).outcome).toBe('unchanged');
  expect(await rollbackPipeline(busy, options())).toMatchObject({ tables: [{ rows: 4 }] });
  const { rows } = await database.query(`select count(*)::int as runs from etl.run where pipeline = 'busy'`);
  // Five nights and the way back; whatever was deleted was deleted whole.
  expect(rows[0]!['runs']).toBeGreaterThanOrEqual(3);
  expect(rows[0]!['runs']).toBeLessThanOrEqual(6);
  expect(deleted).toBeGreaterThan(0);
  expect(
    await one('select count(*)::int from etl.source_file where run_id not in (select id from etl.run)'),
  ).toBe(0);
});
