// Workers that serve queues by name, on both backends: whose runs they run, help and restore.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient, withTransaction } from '../../src/db/client.ts';
import { enqueue, loadPipelineFile, queueState, retry, schedule } from '../../src/index.ts';
import type { EtlWorker, Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace, useWorkers, type Line } from '../helpers/workers.ts';

const pipelineText = (name: string): string => `
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: '${name}',
    schema: '${name}',
    tables: { words: { source: csv('words.csv'), columns: { n: column.integer('n') } } },
  });`;

describe.each(queueKinds)('queues by name, in $kind', ({ kind }) => {
  const database = useDatabase();
  const files = useFiles();
  const folder = join(files.directory, 'pipelines');
  const pipelines = new Map<string, Pipeline>();
  const { place, loseJobs } = usePlace(kind, database);
  // Each test has empty queues, and no runs or schedules of other tests; workers are closed before.
  beforeEach(() => withClient(addressFromUrl(database.url), migrate));
  afterEach(async () => {
    if (kind === 'Redis') await loseJobs();
    await database.query('drop schema if exists etl, etl_queue cascade');
  });
  const workers = useWorkers(() => ({
    ...place(),
    pipelines: folder,
    workingDirectory: files.directory,
    workers: 1,
  }));
  const start = (from: string, queues?: readonly string[]): Promise<EtlWorker> =>
    workers.start(queues && { queues }, from);
  const put = async (pipeline: string, queue?: string): Promise<string> =>
    (await enqueue(pipelines.get(pipeline)!, { ...place(), fullRefresh: true, ...(queue && { queue }) })).job;
  const ended = (job: string): Line | undefined =>
    workers.lines.find((line) => line.message === 'run ended' && line.job === job);
  const waitingIn = async (queue: string): Promise<number> =>
    (await queueState({ ...place(), queue })).waiting;

  const nightly = () => ({ ...place(), cron: '0 0 1 1 *', queue: 'night' });

  beforeAll(async () => {
    files.write('words.csv', 'n\n1\n2\n');
    mkdirSync(folder);
    for (const name of ['one', 'two']) {
      writeFileSync(join(folder, `${name}.ts`), pipelineText(name));
      pipelines.set(name, (await loadPipelineFile(join(folder, `${name}.ts`))).pipeline);
    }
  });
  it('a worker runs the jobs of its queues, and leaves the others to other workers', async () => {
    const [plain, fast] = [await put('one'), await put('two', 'fast')];
    const worker = await start('fast', ['fast']);
    await until(() => ended(fast) !== undefined);
    expect(await queueState(place())).toMatchObject({
      waiting: 1,
      queues: [
        { queue: 'default', waiting: 1 },
        { queue: 'fast', waiting: 0, active: 0 },
      ],
    });
    expect(await worker.registry.metrics()).toContain('sluice_queue_jobs{queue="fast",state="waiting"} 0');
    expect(await worker.registry.metrics()).not.toContain('queue="default"');
    const at = new Date(Date.now() + 3_600_000);
    await enqueue(pipelines.get('two')!, { ...place(), queue: 'fast', at });
    expect(await worker.registry.metrics()).toContain('sluice_queue_jobs{queue="fast",state="delayed"} 1');
    await start('plain');
    await until(() => ended(plain) !== undefined);
    expect([ended(plain)?.from, ended(fast)?.from]).toEqual(['plain', 'fast']);
    const { rows } = await database.query('select pipeline, queue from etl.run order by pipeline');
    expect(rows).toEqual([
      { pipeline: 'one', queue: 'default' },
      { pipeline: 'two', queue: 'fast' },
    ]);
  });

  it('a worker that is busy with one of its queues holds no job of another', async () => {
    const waitsForLock = async (): Promise<boolean> =>
      (
        await database.query(
          `select exists (select from pg_locks where relation = 'etl.source_file'::regclass and not granted) as yes`,
        )
      ).rows[0]?.['yes'];
    await start('busy', ['slow', 'fast']);
    let slow = '';
    await withClient(addressFromUrl(database.url), (client) =>
      withTransaction(client, async () => {
        await client.query('lock table etl.source_file in exclusive mode');
        slow = await put('one', 'slow');
        await until(waitsForLock);
        await put('two', 'fast');
        await start('idle', ['fast']);
        await until(() =>
          workers.lines.some(({ from, message }) => from === 'idle' && message === 'worker ready'),
        );
        // In the other process, the run waits for the lock.
        await until(
          async () =>
            (
              await database.query(
                `select count(*)::int as waiting from pg_locks where relation = 'etl.source_file'::regclass and not granted`,
              )
            ).rows[0]?.['waiting'] === 2,
        );
      }),
    );
    await until(() => workers.lines.filter(({ message }) => message === 'run ended').length === 2);
    expect(ended(slow)?.from).toBe('busy');
    expect(workers.lines.some(({ from, message }) => from === 'idle' && message === 'run ended')).toBe(true);
  });

  it('a worker helps the runs of its queues only, and none whose staging a crash has emptied', async () => {
    const insert = (queue: string, epoch = '(select epoch from etl.canary)') =>
      database.query(
        `insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers, queue)
          values (${epoch}, '{}', 'one', 'loading', repeat('0', 64), 'elsewhere', 1, 1, $1)
          returning id::int`,
        [queue],
      );
    // Also after it has run a run itself.
    await start('fast', ['fast']);
    const job = await put('two', 'fast');
    await until(() => ended(job) !== undefined);
    await insert('other');
    await insert('fast', 'gen_random_uuid()');
    const own = (await insert('fast')).rows[0]?.['id'];
    const helped = () =>
      workers.lines.filter(({ message }) => message === 'helping a run').map(({ run }) => run);
    await until(() => helped().length > 0);
    expect(helped()).toEqual([own]);
    await database.query(`delete from etl.run where host = 'elsewhere'`);
  });

  it('a retried run and a run of a schedule go to their own queue', async () => {
    const { rows } = await database.query(
      `insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers, queue)
        values (gen_random_uuid(), '{}', 'one', 'failed', repeat('0', 64), 'elsewhere', 1, 1, 'night')
        returning id::int`,
    );
    await retry(rows[0]?.['id'], place());
    expect(await waitingIn('night')).toBe(1);
    expect(await schedule.set('nightly', pipelines.get('two')!, nightly())).toMatchObject({ queue: 'night' });
    const { job } = await schedule.runNow('nightly', place());
    expect(await schedule.runNow('nightly', place())).toEqual({ job, isNew: false });
    expect([await waitingIn('night'), await waitingIn('default')]).toEqual([2, 0]);
    // The run stays on its queue, even if the schedule's queue changes.
    await schedule.set('nightly', pipelines.get('two')!, { ...nightly(), queue: 'fast' });
    expect(await schedule.runNow('nightly', place())).toEqual({ job, isNew: false });
    expect(await waitingIn('fast')).toBe(0);
    await schedule.set('nightly', pipelines.get('two')!, nightly());
    await start('night', ['night']);
    await until(() => ended(job) !== undefined);
    await database.query(`delete from etl.run where host = 'elsewhere'`);
  });

  it('a job that the queue has lost is put back by a worker of that queue', async () => {
    await schedule.set('nightly', pipelines.get('two')!, nightly());
    await database.query(
      `update etl.schedule set job = 'schedule-nightly-lost', job_queue = queue, job_state = 'enqueued' where name = 'nightly'`,
    );
    // Only a pipeline's newest run continues, even if an older run was handed over.
    await database.query(
      `insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers, queue, job, error_code)
        select gen_random_uuid(), '{}', 'one', state, repeat('0', 64), 'elsewhere', 1, 1, 'night', job, code
        from (values ('loading', 'run-older', null), ('cancelled', 'run-newest', 'ETL_INTERRUPTED')) as r (state, job, code)`,
    );
    await start('plain');
    await start('night', ['night', 'fast']);
    await until(() => ended('schedule-nightly-lost') !== undefined);
    expect(ended('schedule-nightly-lost')?.from).toBe('night');
    const lost = workers.lines.filter(({ message }) => message === 'the queue had lost a job');
    expect(lost.map(({ from, job }) => `${from} ${job}`)).toEqual([
      'night run-newest',
      'night schedule-nightly-lost',
    ]);
    // A published run is not run again.
    const stateOf = async () =>
      (await database.query('select job_state from etl.schedule')).rows[0]?.['job_state'];
    await until(async () => (await stateOf()) === 'published');
    await loseJobs();
    await database.query(`update etl.schedule set job_state = 'enqueued'`);
    await start('again', ['night']);
    await until(async () => (await stateOf()) !== 'enqueued');
    expect(await stateOf()).toBe('published');
  });

  it('an invalid queue name is refused before anything is done', async () => {
    const refused = [
      enqueue(pipelines.get('one')!, { ...place(), queue: 'a:b' }),
      start('none', ['fast', 'A']),
      queueState({ ...place(), queue: '' }),
      schedule.set('x', pipelines.get('one')!, { ...place(), cron: '0 0 1 1 *', queue: 'a b' }),
    ];
    for (const each of refused) expect((await failureOf(each)).code).toBe('ETL_USAGE');
  });

  it('invalid run options are refused when the worker starts', async () => {
    const refused = await failureOf(workers.start({ workers: 0 }, 'none'));
    expect(refused).toMatchObject({
      code: 'ETL_USAGE',
      message: expect.stringContaining('option `workers` must be a whole number from 1'),
    });
  });
});
