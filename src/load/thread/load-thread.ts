// A loading thread: decodes and copies one segment at a time over its own connection.

import { parentPort, workerData } from 'node:worker_threads';
import { EtlError } from '../../core/errors/errors.ts';
import { threadReportMs } from '../../core/limits.ts';
import type { Counts } from '../../core/model.ts';
import type { Stops } from '../../core/stop.ts';
import type { PipelineFile } from '../../pipeline/definition.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import type { FileSegment, LoadListener } from '../chunk/loader.ts';
import type { LoadPlan } from '../load-plan.ts';
import { createLoader } from './main-loader.ts';
import { plainError } from './plain-error.ts';
import type { FromThread, ToThread } from './thread-loader.ts';

const withTablesOf = async (plan: LoadPlan, file: PipelineFile): Promise<LoadPlan> => {
  // Imported only here: the modules that declare and check pipelines load slowly.
  const { loadPipelineFile } = await import('../../pipeline/load-file.ts');
  const { readDefinition } = await import('../../pipeline/definition.ts');
  const { pipeline, directory } = await loadPipelineFile(file.path);
  const { spec, hashes } = await readDefinition(pipeline, { params: file.params, directory });
  if (hashes.definition !== file.definition)
    throw new EtlError('ETL_JOIN_REFUSED', {
      pipeline: plan.pipeline,
      problem: `${file.path} changed while the run began`,
    });
  const tables = plan.tables.map(({ table, ...rest }) => {
    const own = spec.tables.find(({ name }) => name === table.name);
    // The plan's limit is used, because the run may have raised the definition's limit.
    return { ...rest, table: own?.kind === 'source' ? { ...own, rejectLimit: table.rejectLimit } : table };
  });
  return { ...plan, tables };
};

const port = parentPort!;
const plan = workerData as LoadPlan;
const say = (message: FromThread): void => port.postMessage(message);

let stops: Readonly<Record<keyof Stops, AbortController>> | undefined;
const making = (async () =>
  createLoader(plan.file === undefined ? plan : await withTablesOf(plan, plan.file)))();
// `load` reports the error for the first segment.
making.catch(() => undefined);

/** Adds up `decoded` calls, because each message wakes the main thread. */
const createSender = (): LoadListener & { readonly flush: () => void } => {
  let [bytes, counts]: [number, Counts] = [0, noCounts];
  let said = performance.now();
  const flush = (): void => {
    say({ type: 'decoded', args: [bytes, counts] });
    [bytes, counts] = [0, noCounts];
    said = performance.now();
  };
  return {
    decoded: (moreBytes, moreCounts) => {
      [bytes, counts] = [bytes + moreBytes, addCounts(counts, moreCounts)];
      if (performance.now() - said >= threadReportMs) flush();
    },
    chunk: (chunk) => {
      flush();
      say({ type: 'chunk', args: [chunk] });
    },
    fileEnd: (byte) => say({ type: 'fileEnd', args: [byte] }),
    flush,
  };
};

const load = async (segment: FileSegment): Promise<void> => {
  const sender = createSender();
  stops = { drain: new AbortController(), leave: new AbortController(), abort: new AbortController() };
  const { drain, leave, abort } = stops;
  try {
    const loader = await making;
    await loader.load(segment, sender, { drain: drain.signal, leave: leave.signal, abort: abort.signal });
    sender.flush();
    say({ type: 'done' });
  } catch (error) {
    sender.flush();
    say({ type: 'failed', error: plainError(error) });
  } finally {
    stops = undefined;
  }
};

const close = async (): Promise<void> => {
  const loader = await making.catch(() => undefined);
  await loader?.close();
  // Ends the thread, because nothing else keeps it alive.
  port.close();
};

port.on('message', (message: ToThread) => {
  if (message.type === 'load') void load(message.segment);
  else if (message.type === 'stop') stops?.[message.how].abort();
  else void close();
});
