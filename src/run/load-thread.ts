// A loading thread: decodes and copies one segment at a time over a connection of its own, as the main thread tells it.

import { parentPort, workerData } from 'node:worker_threads';
import { EtlError } from '../errors.ts';
import { readDefinition, type PipelineFile } from './definition.ts';
import { createSegmentLoader, type LoaderSetup, type SegmentTask } from './segment-loader.ts';
import {
  plainError,
  type FromThread,
  type Stop,
  type ThreadSetup,
  type ToThread,
} from './thread-messages.ts';

/** The setup with the tables of the pipeline file, functions and all. */
const withTablesOf = async (setup: LoaderSetup, file: PipelineFile): Promise<LoaderSetup> => {
  const { loadPipelineFile } = await import('../pipeline/load-file.ts');
  const { pipeline, directory } = await loadPipelineFile(file.path);
  const { spec, hashes } = await readDefinition(pipeline, { params: file.params, directory });
  if (hashes.definition !== file.definition)
    throw new EtlError('ETL_JOIN_REFUSED', {
      pipeline: setup.pipeline,
      problem: `${file.path} was changed while its run began`,
    });
  const tables = setup.tables.map(({ table, ...rest }) => {
    const own = spec.tables.find(({ name }) => name === table.name);
    return { ...rest, table: own?.kind === 'source' ? own : table };
  });
  return { ...setup, tables };
};

const port = parentPort!;
const { loader: setup, file } = workerData as ThreadSetup;
const say = (message: FromThread): void => port.postMessage(message);

let stops: Readonly<Record<Stop, AbortController>> | undefined;
const making = (async () =>
  createSegmentLoader(file === undefined ? setup : await withTablesOf(setup, file)))();
// Told to whoever gives the first segment.
making.catch(() => undefined);

const load = async (task: SegmentTask): Promise<void> => {
  stops = { drain: new AbortController(), leave: new AbortController(), abort: new AbortController() };
  try {
    const loader = await making;
    await loader.load(task, {
      onDecoded: (bytes, counts) => say({ type: 'decoded', bytes, counts }),
      afterChunk: (times) => say({ type: 'chunk', times }),
      drain: stops.drain.signal,
      leave: stops.leave.signal,
      abort: stops.abort.signal,
    });
    say({ type: 'done' });
  } catch (error) {
    say({ type: 'failed', error: plainError(error) });
  } finally {
    stops = undefined;
  }
};

const close = async (): Promise<void> => {
  const loader = await making.catch(() => undefined);
  await loader?.close();
  // Nothing is left that keeps the thread alive.
  port.close();
};

port.on('message', (message: ToThread) => {
  if (message.type === 'load') void load(message.task);
  else if (message.type === 'stop') stops?.[message.how].abort();
  else void close();
});
