// The library's worker in this process: enqueuing, refusals, cancelling, handing over, endpoints,
// closing.

import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { cancel, enqueue, loadPipelineFile, queueState, retry } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace, useWorkers, type Line } from '../helpers/workers.ts';

/** Requests another host name, which fetch cannot, and returns the status. */
const statusFor = async (url: string, host: string): Promise<number | undefined> => {
  const sent = request(url, { agent: false, headers: { host } }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
};

describe.each(queueKinds)('a worker, queues in $kind', ({ kind }) => {
  const database = useDatabase();
  const { directory } = useFiles();
  const folder = join(directory, 'pipelines');
  const { place } = usePlace(kind, database);
  const workers = useWorkers(() => ({
    ...place(),
    pipelines: folder,
    workingDirectory: directory,
    workers: 2,
    chunkBytes: 200_000,
  }));
  const put = async (given: Parameters<typeof enqueue>[1] = {}) => {
    const { pipeline, directory: own } = await loadPipelineFile(join(folder, 'noaa.ts'));
    return enqueue(pipeline, { ...place(), directory: own, ...given });
  };
  const said = (message: string, job?: string): Line | undefined =>
    workers.lines.find((line) => line.message === message && (job === undefined || line.job === job));
  const rows = async (): Promise<unknown> =>
    (await database.query('select count(*)::int as rows from noaa.observation')).rows[0]?.['rows'];
  const newestRun = async () =>
    (
      await database.query(
        'select id::int as id, state, error_code, generation from etl.run order by id desc limit 1',
      )
    ).rows[0];
  /** Waits until a run is loading, with work left. */
  const untilLoading = (): Promise<void> =>
    until(async () => {
      const { rows: found } = await database.query(
        `select exists (select from etl.chunk c join etl.source_file f on f.id = c.file_id
            join etl.run r on r.id = f.run_id where r.state = 'loading') as yes`,
      );
      return found[0]?.['yes'] === true;
    });

  beforeAll(async () => {
    await withClient(addressFromUrl(database.url), migrate);
    writeNoaaFiles(directory, 60_000, 4);
    // Each worker reads all pipelines of the folder when it starts.
    for (const name of ['noaa.ts', 'noaa'])
      cpSync(join('pipelines', name), join(folder, name), { recursive: true });
  });
  it('does what is enqueued, once, and says so with the number of the run', async () => {
    const worker = await workers.start({ health: { port: 0, hosts: ['etl.example.com'] } });
    expect(worker.pipelines).toContain('noaa');
    const { job, isNew } = await put({ fullRefresh: true });
    await until(() => said('run ended', job) !== undefined);
    expect(isNew).toBe(true);
    expect(await rows()).toBe(60_000);
    expect(said('run ended', job)).toMatchObject({ run: (await newestRun())?.['id'], outcome: 'published' });
    const endpoint = `http://127.0.0.1:${worker.healthPort}`;
    await until(async () => (await fetch(`${endpoint}/ready`)).status === 200);
    expect((await fetch(`${endpoint}/health`)).status).toBe(200);
    const metrics = await (await fetch(`${endpoint}/metrics`)).text();
    expect(metrics).toContain('sluice_runs_total{pipeline="noaa",outcome="published"} 1');
    expect(metrics).toContain('sluice_records_total{pipeline="noaa",result="copied"} 6');
    expect(metrics).toMatch(/sluice_chunk_seconds_count\{pipeline="noaa"\} [1-9]/);
    expect(metrics).toContain('sluice_queue_jobs{queue="default",state="waiting"} 0');
    const answersTo = (host: string) => statusFor(`${endpoint}/metrics`, host);
    const local = ['localhost:1', '[::1]', '10.1.2.3:9464', 'worker', 'etl.example.com'].map(answersTo);
    expect(await Promise.all(local)).toEqual([200, 200, 200, 200, 200]);
    const elsewhere = ['attacker.example', '127.0.0.1.attacker.example:80', 'localhost.'].map(answersTo);
    expect(await Promise.all(elsewhere)).toEqual([421, 421, 421]);
    // Probes may use any host name.
    expect(await statusFor(`${endpoint}/ready`, 'attacker.example')).toBe(200);
    await worker.close();
    await expect(fetch(`${endpoint}/health`)).rejects.toThrow('fetch failed');
    const { rows: sessions } = await database.query(
      `select application_name from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'sluice%'`,
    );
    expect(sessions).toEqual([]);
  });

  it('while it waits after a run it holds two connections, and those of its queue', async () => {
    await workers.start();
    const { job } = await put();
    await until(() => said('run ended', job) !== undefined);
    const count = async (name: string): Promise<number> =>
      (
        await database.query(
          `select count(*)::int as sessions from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and application_name ~ $1`,
          [name],
        )
      ).rows[0]?.['sessions'];
    // The server ends a session shortly after the run has closed it.
    const queues = kind === 'PostgreSQL' ? 1 : 0;
    // BullMQ queries over a connection `sluice queue`. It listens over another, which has the queue's name.
    const names = ['^sluice', '^sluice worker ', '^sluice queue$'];
    await expect
      .poll(() => Promise.all(names.map(count)), { timeout: 20_000 })
      .toEqual([2 + queues, 1, queues]);
    expect(await count('^etl-run$')).toBe(kind === 'PostgreSQL' ? 1 : 0);
  });

  it('later, by priority, and not twice under one key', async () => {
    const later = await put({ at: new Date(Date.now() + 3_600_000), dedupe: 'hourly' });
    const again = await put({ dedupe: 'hourly', priority: 3 });
    expect(again).toEqual({ job: later.job, isNew: false });
    await put({ priority: 3 });
    const state = await queueState(place());
    expect(state).toMatchObject({ waiting: 1, delayed: 1, active: 0 });
    expect(state.oldestAt).toBeInstanceOf(Date);
    await workers.start();
    await until(async () => (await queueState(place())).waiting === 0);
    await until(() => said('run ended') !== undefined);
  });

  it('refuses a definition that differs from its own file, and a pipeline that is not in its folder', async () => {
    const other = join(directory, 'other');
    mkdirSync(other, { recursive: true });
    cpSync('pipelines', other, { recursive: true });
    const text = readFileSync(join(other, 'noaa.ts'), 'utf8');
    writeFileSync(join(other, 'noaa.ts'), text.replace('rejectLimit: 0', 'rejectLimit: 7'));
    const before = await newestRun();
    const differing = await loadPipelineFile(join(other, 'noaa.ts'));
    writeFileSync(join(other, 'renamed.ts'), text.replace("name: 'noaa'", "name: 'noah'"));
    const unknown = await loadPipelineFile(join(other, 'renamed.ts'));
    const one = await enqueue(differing.pipeline, { ...place(), directory: other });
    const two = await enqueue(unknown.pipeline, { ...place(), directory: other });
    await workers.start();
    await until(() => said('run failed', one.job) !== undefined && said('run failed', two.job) !== undefined);
    expect(said('run failed', one.job)?.code).toBe('ETL_DEFINITION_DIFFERS');
    expect(said('run failed', two.job)?.code).toBe('ETL_PIPELINE_UNKNOWN');
    expect(await newestRun()).toEqual(before);
  });

  it('a run is cancelled from elsewhere: nothing is published; tried again, it goes on', async () => {
    await workers.start();
    const { job } = await put({ fullRefresh: true });
    await untilLoading();
    const run = Number((await newestRun())?.['id']);
    await cancel(run, place());
    await until(() => said('run failed', job) !== undefined);
    expect(said('run failed', job)?.code).toBe('ETL_RUN_CANCELLED');
    expect(await newestRun()).toMatchObject({ id: run, state: 'cancelled', error_code: 'ETL_RUN_CANCELLED' });
    await expect(cancel(run, place())).rejects.toMatchObject({ code: 'ETL_RUN_OVER' });
    const again = await retry(run, place());
    await until(() => said('run ended', again.job) !== undefined);
    expect(await newestRun()).toMatchObject({ id: run, state: 'published', generation: 2 });
    expect(await rows()).toBe(60_000);
    await expect(retry(run, place())).rejects.toMatchObject({ code: 'ETL_RUN_OVER' });
  });

  it('asked to stop, it hands its run to another worker, which continues it', async () => {
    const first = await workers.start();
    const { job } = await put({ fullRefresh: true });
    await untilLoading();
    const run = (await newestRun())?.['id'];
    await first.close();
    expect(said('the run is handed over', job)).toBeDefined();
    await workers.start();
    await until(() => said('run ended', job) !== undefined);
    expect(said('run ended', job)?.run).toBe(run);
    expect(await rows()).toBe(60_000);
  });

  it('aborted while it stops, it breaks off the chunks in flight; the run still continues elsewhere', async () => {
    const first = await workers.start();
    const { job } = await put({ fresh: true });
    await untilLoading();
    const run = (await newestRun())?.['id'];
    const closing = first.close({ deadlineMs: 3_600_000 });
    first.abort();
    await closing;
    await workers.start();
    await until(() => said('run ended', job) !== undefined);
    // Only the first delivery starts over.
    expect(said('run ended', job)?.run).toBe(run);
    expect(await rows()).toBe(60_000);
  });

  it('a folder without pipelines, or with one name twice, is refused before a connection is opened', async () => {
    const twice = join(directory, 'twice');
    cpSync('pipelines', twice, { recursive: true });
    cpSync(join(twice, 'noaa.ts'), join(twice, 'again.ts'));
    await expect(workers.start({ pipelines: twice })).rejects.toMatchObject({ code: 'ETL_PIPELINE_FOLDER' });
    await expect(workers.start({ pipelines: join(directory, 'data') })).rejects.toMatchObject({
      code: 'ETL_PIPELINE_FOLDER',
    });
  });
});
