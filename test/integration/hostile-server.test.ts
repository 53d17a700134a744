// On a server where somebody else may create objects, nothing of theirs is executed by an admin who runs our commands.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { column, createWorker, csv, definePipeline, index, runPipeline } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { executed, plant, plantIn, type Planted } from '../helpers/hostile-server.ts';
import { ask, startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { until } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const files = useFiles();
let own: OwnServer;
let planted: Planted;
/** As a superuser whose name nothing of ours has. */
const url = (): string => {
  const asAdmin = new URL(own.server.url);
  [asAdmin.username, asAdmin.password] = ['admin', 'admin'];
  return asAdmin.href;
};

const etl = async (...args: readonly string[]): Promise<{ exit: number; err: string }> => {
  const io = fakeIo({ env: { DATABASE_URL: url() }, workingDirectory: process.cwd() });
  return { exit: await main(args, io), err: io.stderr.text };
};

/** Until a worker has done what is enqueued. */
const work = async (): Promise<void> => {
  await etl('enqueue', 'pipelines/noaa-sql.ts');
  const place = { databaseUrl: url(), redis: false as const, workingDirectory: process.cwd() };
  const worker = await createWorker({ ...place, pipelines: 'pipelines', workers: 1 });
  const published = `select count(*) > 0 as done from etl.run where pipeline = 'noaa_sql' and state = 'published'`;
  try {
    await until(async () => (await ask<{ done: boolean }>(url(), published))[0]!.done);
  } finally {
    await worker.close();
  }
};

beforeAll(async () => {
  own = await startOwnServer({ log_statement: 'all', log_line_prefix: '%p|%a|%u|' });
  await ask(own.server.url, `create role admin superuser login password 'admin'`);
  // The schemas of the bookkeeping are there, and ours; chunks of this size need the queue.
  await etl('run', 'pipelines/noaa.ts', '--quiet', '--chunk-bytes', '65536');
  planted = await plant(url());
});
afterAll(() => own.remove());

describe('an admin on a server with an intruder', () => {
  it('would fall for what is planted, were it not for the search path', async () => {
    expect(planted.operators).toBeGreaterThan(1_000);
    expect(planted.functions).toBeGreaterThan(1_000);
    await ask(url(), `select 2::float8 * 3::numeric, 'a'::name || 1::bigint, length('a'::name)`);
    expect(await executed(url())).not.toEqual([]);
    await ask(url(), 'truncate trap.executed; alter sequence trap.calls restart');
  });

  it.each([
    { args: ['doctor'], exit: 0 },
    { args: ['run', 'pipelines/noaa.ts', '--full-refresh', '--quiet'], exit: 0 },
    { args: ['run', 'pipelines/noaa.ts', '--full-refresh', '--quiet', '--chunk-bytes', '65536'], exit: 0 },
    { args: ['status'], exit: 0 },
    { args: ['rejects', 'list'], exit: 0 },
    { args: ['schedule', 'set', 'nightly', 'pipelines/noaa.ts', '--cron', '0 2 * * *'], exit: 0 },
    { args: ['schedule', 'list'], exit: 0 },
    { args: ['schedule', 'remove', 'nightly'], exit: 0 },
    { args: ['enqueue', 'pipelines/noaa-sql.ts'], exit: 0 },
    { args: ['queue'], exit: 0 },
  ])('executes nothing of it: etl $args', async ({ args, exit }) => {
    expect(await etl(...args)).toMatchObject({ exit });
    expect(await executed(url())).toEqual([]);
  });

  it('executes nothing of it where it is on the path of the author’s SQL and triggers', async () => {
    const item = {
      source: csv(files.write('item.csv', 'code,n\na,1\nb,2\n')),
      columns: { code: column.varchar('code', { length: 9 }), n: column.integer('n') },
      primaryKey: ['code'] as ['code'],
      indexes: [index('n', { unique: true, where: 'n is not null' })],
    };
    const shop = definePipeline({ name: 'shop', schema: 'shop', tables: { item } });
    const load = () => runPipeline(shop, { databaseUrl: url(), redis: false, workers: 1, fullRefresh: true });
    await load();
    // Rows are replaced by key, which no operator of the server's own compares as the type that it has.
    await ask(url(), 'create table shop.child (code varchar(9) references shop.item)');
    await plantIn(url(), 'shop');
    files.write('item.csv', 'code,n\na,2\nb,1\n');
    expect(await load()).toMatchObject({ outcome: 'published' });
    expect(await executed(url())).toEqual([]);
  });

  it('executes nothing of it: a worker', async () => {
    await work();
    expect(await executed(url())).toEqual([]);
    const [calls] = await ask<{ none: boolean }>(url(), 'select not is_called as none from trap.calls');
    expect(calls).toEqual({ none: true });
  });

  it('has only sessions whose first statement makes their search path safe', async () => {
    const lines = (await readFile(own.server.logFile, 'utf8')).split('\n');
    const first = new Map<string, string>();
    for (const line of lines) {
      const [, pid, name, , said] =
        /^(\d+)\|(sluice[^|]*)\|([^|]*)\|LOG: +(?:statement|execute [^:]*): (.*)$/.exec(line) ?? [];
      if (pid !== undefined && !first.has(pid)) first.set(pid, `${name}: ${said}`);
    }
    expect(first.size).toBeGreaterThan(5);
    // The timeout looks up no name.
    const unsafe = [...first.values()].filter(
      (text) =>
        !/: set local statement_timeout = 0; set local search_path = "pg_catalog", ("etl_queue", )?"pg_temp"; /.test(
          text,
        ),
    );
    expect(unsafe).toEqual([]);
    expect(lines.filter((line) => /^\d+\|sluice[^|]*\|[^|]*\|(?:ERROR|FATAL|WARNING):/.test(line))).toEqual(
      [],
    );
  });
});
