// Runs of a pipeline that another process runs: they wait without being tried all the time, runs of other pipelines go
// on meanwhile, and each is offered when the one before it ends.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { enqueue, loadPipelineFile, queueState, type Pipeline } from '../../src/index.ts';
import { defaultQueue } from '../../src/core/model.ts';
import { lockSpace } from '../../src/db/connect/advisory-keys.ts';
import { withQueue } from '../../src/queue/job-queue.ts';
import { bullNameOf } from '../../src/queue/run-queue.ts';
import { openSite } from '../../src/worker/site.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace, useWorkers, type Line } from '../helpers/workers.ts';

const hourMs = 3_600_000;

const key = (pipeline: string): string =>
  `hashtextextended('sluice pipeline ' || '${pipeline}', ${lockSpace})`;

describe.each(queueKinds)('runs of a locked pipeline, with the queue in $kind', ({ kind }) => {
  const database = useDatabase();
  const files = useFiles();
  const folder = join(files.directory, 'pipelines');
  const pipelines = new Map<string, Pipeline>();
  const { place } = usePlace(kind, database);
  const workers = useWorkers(() => ({
    ...place(),
    pipelines: folder,
    workingDirectory: files.directory,
    workers: 1,
  }));
  const put = async (name: string, options = {}): Promise<string> =>
    (await enqueue(pipelines.get(name)!, { ...place(), fullRefresh: true, ...options })).job;
  /** Puts them off, so that none becomes due by itself: now only an offer begins it. False: one was being put back. */
  const postpone = async (jobs: readonly string[]): Promise<boolean> => {
    const { queues } = await openSite(place());
    return withQueue(queues, bullNameOf(defaultQueue), async ({ ask }) => {
      const delayed = (await ask((bull) => bull.getDelayed())).filter(({ id }) => jobs.includes(id!));
      const early = delayed.filter(({ delay }) => delay < hourMs);
      for (const job of early) await job.changeDelay(hourMs);
      return delayed.length === jobs.length && early.length === 0;
    });
  };
  const linesOf = (message: string): readonly Line[] =>
    workers.lines.filter((line) => line.message === message);
  const endedOf = (job: string): Line | undefined => linesOf('run ended').find((line) => line.job === job);

  beforeAll(async () => {
    files.write('words.csv', 'n\n1\n');
    mkdirSync(folder);
    for (const name of ['one', 'two']) {
      writeFileSync(
        join(folder, `${name}.ts`),
        `import { column, csv, definePipeline } from 'sluice';
        export default definePipeline({ name: '${name}', schema: '${name}', tables: {
          words: { source: csv('words.csv'), columns: { n: column.integer('n') } } } });`,
      );
      pipelines.set(name, (await loadPipelineFile(join(folder, `${name}.ts`))).pipeline);
    }
  });

  it('only one of them is tried again, and a run of another pipeline behind them ends meanwhile', async () => {
    await database.query(`select pg_advisory_lock(${key('one')})`);
    const later = await put('one', { at: new Date(Date.now() + hourMs) });
    const jobs: string[] = [];
    for (let count = 0; count < 12; count += 1) jobs.push(await put('one'));
    const behind = await put('two');
    await workers.start();
    await until(() => endedOf(behind) !== undefined);
    const tries = (): readonly Line[] => linesOf('the run waits').filter(({ code }) => code !== undefined);
    const first = tries().length;
    await until(() => tries().length >= first + 2);
    expect(new Set(tries().map(({ job }) => job))).toEqual(new Set([jobs[0]]));
    // Each of the others was taken from the queue, and put back.
    const waiting = linesOf('the run waits').filter(({ code }) => code === undefined);
    expect([...new Set(waiting.map(({ job }) => job))]).toEqual(jobs.slice(1));
    await until(() => postpone(jobs.slice(1)));
    await database.query(`select pg_advisory_unlock(${key('one')})`);
    await until(() => jobs.every((job) => endedOf(job) !== undefined));
    expect(linesOf('run ended').map(({ job }) => job)).toEqual([behind, ...jobs]);
    // A run for a later time is not offered early.
    expect(endedOf(later)).toBeUndefined();
    expect(await queueState(place())).toMatchObject({ waiting: 0, delayed: 1 });
  });

  it('two workers run a long queue of one pipeline, each run once', async () => {
    const jobs: string[] = [];
    for (let count = 0; count < 10; count += 1) jobs.push(await put('one'));
    await Promise.all([workers.start({}, 'first'), workers.start({}, 'second')]);
    await until(() => jobs.every((job) => endedOf(job) !== undefined));
    expect(linesOf('run ended')).toHaveLength(jobs.length);
    expect(workers.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
