// A loading thread: decodes and copies one segment at a time over a connection of its own, at the main thread's request.

import { parentPort, workerData } from 'node:worker_threads';
import { EtlError } from '../../core/errors/errors.ts';
import { threadReportMs } from '../../core/limits.ts';
import type { Counts } from '../../core/model.ts';
import type { PipelineFile } from '../../pipeline/definition.ts';
import type { SegmentTask } from '../chunk/load-segment.ts';
import { createSegmentLoader, type LoaderSetup } from './segment-loader.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import {
  plainError,
  type FromThread,
  type Stop,
  type ThreadSetup,
  type ToThread,
} from './thread-messages.ts';

/** The setup with the tables of the pipeline file, functions and all. */
const withTablesOf = async (setup: LoaderSetup, file: PipelineFile): Promise<LoaderSetup> => {
  // Imported only here: the modules that declare and check pipelines take longer to load than the rest of a thread.
  const { loadPipelineFile } = await import('../../pipeline/load-file.ts');
  const { readDefinition } = await import('../../pipeline/definition.ts');
  const { pipeline, directory } = await loadPipelineFile(file.path);
  const { spec, hashes } = await readDefinition(pipeline, { params: file.params, directory });
  if (hashes.definition !== file.definition)
    throw new EtlError('ETL_JOIN_REFUSED', {
      pipeline: setup.pipeline,
      problem: `${file.path} changed while the run began`,
    });
  const tables = setup.tables.map(({ table, ...rest }) => {
    const own = spec.tables.find(({ name }) => name === table.name);
    // The run may have raised the limit.
    return { ...rest, table: own?.kind === 'source' ? { ...own, rejectLimit: table.rejectLimit } : table };
  });
  return { ...setup, tables };
};

const port = parentPort!;
const { loader: setup, file } = workerData as ThreadSetup;
const say = (message: FromThread): void => port.postMessage(message);

let stops: Readonly<Record<Stop, AbortController>> | undefined;
const making = (async () =>
  createSegmentLoader(file === undefined ? setup : await withTablesOf(setup, file)))();
// Reported for the first segment.
making.catch(() => undefined);

/** Sums up the decoded counts, and reports them from time to time: each message wakes the main thread. */
const createReport = () => {
  let [bytes, counts]: [number, Counts] = [0, noCounts];
  let said = performance.now();
  const flush = (): void => {
    say({ type: 'decoded', bytes, counts });
    [bytes, counts] = [0, noCounts];
    said = performance.now();
  };
  const add = (moreBytes: number, moreCounts: Counts): void => {
    [bytes, counts] = [bytes + moreBytes, addCounts(counts, moreCounts)];
    if (performance.now() - said >= threadReportMs) flush();
  };
  return { add, flush };
};

const load = async (task: SegmentTask): Promise<void> => {
  const report = createReport();
  stops = { drain: new AbortController(), leave: new AbortController(), abort: new AbortController() };
  try {
    const loader = await making;
    await loader.load(task, {
      onDecoded: report.add,
      afterChunk: (times, news) => {
        report.flush();
        say({ type: 'chunk', times, news });
      },
      onFileEnd: (byte) => say({ type: 'fileEnd', byte }),
      drain: stops.drain.signal,
      leave: stops.leave.signal,
      abort: stops.abort.signal,
    });
    report.flush();
    say({ type: 'done' });
  } catch (error) {
    report.flush();
    say({ type: 'failed', error: plainError(error) });
  } finally {
    stops = undefined;
  }
};

const close = async (): Promise<void> => {
  const loader = await making.catch(() => undefined);
  await loader?.close();
  // Nothing keeps the thread alive any more.
  port.close();
};

port.on('message', (message: ToThread) => {
  if (message.type === 'load') void load(message.task);
  else if (message.type === 'stop') stops?.[message.how].abort();
  else void close();
});
