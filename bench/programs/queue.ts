// Works a queue off, and prints what each step of that took, in seconds.
//
//   DATABASE_URL=… REDIS_URL=… jiti queue.ts runs|segments|worker|direct <count> <pipeline-file>
//
// runs: jobs of the run queue that do nothing · segments: the same of a load queue · worker: runs of the pipeline, enqueued, by
// one worker · direct: as many runs without a run queue. The last two load the files of the working directory.

import { dirname } from 'node:path';
import type { EtlWorker } from 'sluice';
import { silentLogger, type Logger } from '../../src/core/logger.ts';
import { defaultQueue } from '../../src/core/model.ts';
import { readSegmentJob } from '../../src/pipeline/job-payload.ts';
import { openLoadQueue } from '../../src/queue/load-queue.ts';
import { restoreRuns } from '../../src/queue/run-queue.ts';
import { serveRuns } from '../../src/queue/serve-runs.ts';
import { openSite } from '../../src/worker/site.ts';

/** The compiled library: what is measured of runs includes the start of their threads. */
const library = () => import('sluice');

const [kind = '', given, pipelineFile = ''] = process.argv.slice(2);
const count = Number(given);
const databaseUrl = process.env.DATABASE_URL;

/** Seconds of each step. */
type Steps = Readonly<Record<string, number>>;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

/** Resolves when it was called `count` times. */
const countDown = () => {
  let left = count;
  let done: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (done = resolve));
  const one = (): void => {
    left -= 1;
    if (left === 0) done();
  };
  return { all, one };
};

const runs = async (): Promise<Steps> => {
  const { queues } = await openSite({ databaseUrl });
  const jobs = Array.from({ length: count }, (_, n) => ({
    job: `bench-${process.pid}-${n}`,
    queue: defaultQueue,
    data: { n },
  }));
  const enqueued = await timed(() => restoreRuns(queues, jobs));
  const { all, one } = countDown();
  const work = async (): Promise<'done'> => {
    one();
    return 'done';
  };
  let worker: Awaited<ReturnType<typeof serveRuns>> | undefined;
  const worked = await timed(async () => {
    worker = await serveRuns(queues, [defaultQueue], work);
    await all;
  });
  await worker!.drain();
  await worker!.close();
  return { enqueue: enqueued, work: worked };
};

const segments = async (): Promise<Steps> => {
  const { queues } = await openSite({ databaseUrl });
  const start = { byte: 0, line: 1, record: 1 };
  async function* batches() {
    yield Array.from({ length: count }, (_, fileId) => ({ segments: [{ fileId, start, byteEnd: 10 }] }));
  }
  const options = {
    queues,
    lease: { runId: 1, epoch: '', generation: 1 },
    workers: 2,
    drain: undefined,
    outside: new Promise<never>(() => undefined),
    read: readSegmentJob,
    load: async () => undefined,
  };
  return {
    work: await timed(async () => {
      const queue = openLoadQueue(queues, options.lease.runId, options.workers);
      await queue.workOff(options, batches());
      await queue.close();
    }),
  };
};

const worker = async (): Promise<Steps> => {
  const { createWorker, enqueue, loadPipelineFile } = await library();
  const { pipeline, directory } = await loadPipelineFile(pipelineFile);
  const enqueued = await timed(async () => {
    for (let n = 0; n < count; n += 1) await enqueue(pipeline, { databaseUrl, directory, fullRefresh: true });
  });
  const { all, one } = countDown();
  const info: Logger['info'] = (_, message) => void (message === 'run ended' && one());
  const logger: Logger = {
    ...silentLogger,
    info,
    error: (fields) => process.stderr.write(`${JSON.stringify(fields)}\n`),
  };
  let etl: EtlWorker | undefined;
  const worked = await timed(async () => {
    etl = await createWorker({ databaseUrl, pipelines: dirname(pipelineFile), workers: 1, logger });
    await all;
  });
  await etl!.close();
  return { enqueue: enqueued, work: worked };
};

const direct = async (): Promise<Steps> => {
  const { loadPipelineFile, runPipeline } = await library();
  const { pipeline, directory, file } = await loadPipelineFile(pipelineFile);
  const options = { databaseUrl, directory, pipelineFile: file, workers: 1, fullRefresh: true };
  const work = async () => {
    for (let n = 0; n < count; n += 1) await runPipeline(pipeline, options);
  };
  return { work: await timed(work) };
};

const kinds: Readonly<Record<string, () => Promise<Steps>>> = { runs, segments, worker, direct };
const steps = await kinds[kind]!();
console.log(JSON.stringify(steps));
