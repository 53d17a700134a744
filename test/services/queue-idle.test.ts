// The run's queue is idle during a long hook before the load; timeouts of idle connections do not
// disturb the run.

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { column, csv, definePipeline, type RunEvent } from '../../src/index.ts';
import { withPg } from '../helpers/own-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { hasRedis, startRedis } from '../helpers/redis-server.ts';

const { files, database, rowsOf, run } = usePipelineRuns();

beforeEach(async () => {
  await database.query('drop schema if exists shop, etl cascade');
  files.write('sales.csv', 'id\n1\n2\n3\n');
});

/** Longer than the timeouts of idle connections, which are one second. */
const hookMs = 2_500;

/** A run that neither waits for the queue nor starts over. */
const undisturbed = { outcome: 'published', disturbances: [], rows: [{ n: 3 }] };

const runWith = async (before: () => Promise<unknown>, options: object = {}): Promise<unknown> => {
  const pipeline = definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: { sale: { source: csv('sales.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] } },
    hooks: { before: () => before().then(() => undefined) },
  });
  const disturbances: string[] = [];
  const onEvent = ({ type }: RunEvent): void => {
    if (type === 'waiting' || type === 'recovered') disturbances.push(type);
  };
  const { outcome } = await run(pipeline, { ...options, onEvent });
  return { outcome, disturbances, rows: await rowsOf('select count(*)::int as n from shop.sale') };
};

it('idle_session_timeout of the database', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`alter database ${name} set idle_session_timeout = '1s'`);
  try {
    const { rows } = await withPg(database.url, (somebody) => somebody.query('show idle_session_timeout'));
    expect(rows).toEqual([{ idle_session_timeout: '1s' }]);
    expect(await runWith(() => sleep(hookMs))).toEqual(undisturbed);
  } finally {
    await database.query(`alter database ${name} reset idle_session_timeout`);
  }
});

it('somebody, or a pooler, who ends the sessions of the queue', async () => {
  let ended = 0;
  const endAll = async (): Promise<void> => {
    const sessions = await rowsOf(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like '%queue%'`,
    );
    ended = sessions.length;
  };
  expect(await runWith(endAll)).toEqual(undisturbed);
  expect(ended).toBeGreaterThan(0);
});

it.runIf(hasRedis)('timeout of a Redis', async () => {
  const redis = await startRedis({ args: ['--timeout', '1'] });
  const connections = async (): Promise<number> =>
    Number(/total_connections_received:(\d+)/.exec(String(await redis.command('info', 'stats')))?.[1]);
  try {
    let again = 0;
    const idle = async (): Promise<void> => {
      const before = await connections();
      await sleep(hookMs);
      // Without our own connection: those that were ended exist again.
      again = (await connections()) - before - 1;
    };
    expect(await runWith(idle, { redis: { url: redis.url } })).toEqual(undisturbed);
    expect(again).toBeGreaterThan(0);
  } finally {
    await redis.stop();
  }
});
