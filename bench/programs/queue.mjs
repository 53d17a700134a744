// Works a queue off, and prints what each step of that took, in seconds.
//
//   DATABASE_URL=… REDIS_URL=… node queue.mjs runs|segments|worker|direct <count> <pipeline-file>
//
// runs: jobs of the run queue that do nothing · segments: the same of a load queue · worker: runs of the pipeline, enqueued, by
// one worker · direct: as many runs without a run queue. The last two load the files of the working directory.

import { dirname } from 'node:path';
import { createWorker, enqueue, loadPipelineFile, runPipeline } from '../../dist/index.js';
import { silentLogger } from '../../dist/logger.js';
import { defaultQueue } from '../../dist/model.js';
import { readSegmentJob } from '../../dist/pipeline/job-payload.js';
import { workOff } from '../../dist/queue/load-queue.js';
import { restoreRuns } from '../../dist/queue/run-queue.js';
import { serveRuns } from '../../dist/queue/serve-runs.js';
import { openSite } from '../../dist/worker/site.js';

const [kind, given, pipelineFile] = process.argv.slice(2);
const count = Number(given);
const databaseUrl = process.env.DATABASE_URL;

const timed = async (work) => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

/** Resolves when it was called `count` times. */
const countDown = () => {
  let left = count;
  let done;
  const all = new Promise((resolve) => (done = resolve));
  const one = () => {
    left -= 1;
    if (left === 0) done();
  };
  return { all, one };
};

const runs = async () => {
  const { queues } = await openSite({ databaseUrl });
  const jobs = Array.from({ length: count }, (_, n) => ({
    job: `bench-${process.pid}-${n}`,
    queue: defaultQueue,
    data: { n },
  }));
  const enqueued = await timed(() => restoreRuns(queues, jobs));
  const { all, one } = countDown();
  const work = async () => {
    one();
    return 'done';
  };
  let worker;
  const worked = await timed(async () => {
    worker = await serveRuns(queues, [defaultQueue], work);
    await all;
  });
  await worker.drain();
  await worker.close();
  return { enqueue: enqueued, work: worked };
};

const segments = async () => {
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
    outside: new Promise(() => undefined),
    read: readSegmentJob,
    load: async () => undefined,
  };
  return { work: await timed(() => workOff(options, batches())) };
};

const worker = async () => {
  const { pipeline, directory } = await loadPipelineFile(pipelineFile);
  const enqueued = await timed(async () => {
    for (let n = 0; n < count; n += 1) await enqueue(pipeline, { databaseUrl, directory, fullRefresh: true });
  });
  const { all, one } = countDown();
  const info = (_, message) => message === 'run ended' && one();
  const logger = {
    ...silentLogger,
    info,
    error: (fields) => process.stderr.write(`${JSON.stringify(fields)}\n`),
  };
  let etl;
  const worked = await timed(async () => {
    etl = await createWorker({ databaseUrl, pipelines: dirname(pipelineFile), workers: 1, logger });
    await all;
  });
  await etl.close();
  return { enqueue: enqueued, work: worked };
};

const direct = async () => {
  const { pipeline, directory, file } = await loadPipelineFile(pipelineFile);
  const options = { databaseUrl, directory, pipelineFile: file, workers: 1, fullRefresh: true };
  const work = async () => {
    for (let n = 0; n < count; n += 1) await runPipeline(pipeline, options);
  };
  return { work: await timed(work) };
};

const steps = await { runs, segments, worker, direct }[kind]();
console.log(JSON.stringify(steps));
