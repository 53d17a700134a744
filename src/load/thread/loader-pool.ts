// The segment loaders of one process: one per worker, in threads if that pays and the definition can be sent there.

import type { PipelineFile } from '../../pipeline/definition.ts';
import type { LoaderSetup, SegmentLoader } from './segment-loader.ts';
import { startThreadLoader } from './thread-loader.ts';
import type { ThreadSetup } from './thread-messages.ts';

/** Loaders of the workers: each belongs to one segment at a time. */
export interface LoaderPool {
  readonly use: (work: (loader: SegmentLoader) => Promise<void>) => Promise<void>;
}

/** The data that a loading thread starts with; undefined if the definition's functions cannot be sent to it. */
const threadSetup = (loader: LoaderSetup, file: PipelineFile | undefined): ThreadSetup | undefined => {
  const withoutFunctions = {
    ...loader,
    tables: loader.tables.map(({ table, ...rest }) => ({
      ...rest,
      table: { ...table, columns: [], filter: [], publish: 'replace' as const },
    })),
  };
  // A copy of a Zod schema has no methods: they are found by its prototype, so that copying it throws no error.
  const hasSchema = loader.tables.some(({ table }) =>
    table.columns.some(({ schema }) => schema !== undefined),
  );
  const setups = [
    ...(hasSchema ? [] : [{ loader, file: undefined }]),
    ...(file ? [{ loader: withoutFunctions, file }] : []),
  ];
  return setups.find(isCloneable);
};

const isCloneable = (value: unknown): boolean => {
  try {
    structuredClone(value);
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'DataCloneError') return false;
    throw error;
  }
};

/** How a loader is started. Only a process that loads in its main thread needs the decoders there. */
const loaderStart = async (
  setup: LoaderSetup,
  file: PipelineFile | undefined,
  isSmall: boolean,
): Promise<() => SegmentLoader> => {
  const inThread = threadSetup(setup, file);
  // A function of the pipeline may take any time, even for one record: it does not run in the main thread for being cheap to start.
  const isThread = inThread !== undefined && !(isSmall && inThread.file === undefined);
  if (isThread) return () => startThreadLoader(inThread);
  const { createSegmentLoader } = await import('./segment-loader.ts');
  return () => createSegmentLoader(setup);
};

/**
 * One loader per worker, in a thread if possible, unless there is little to load; `busy` of them start eagerly. When all are in use,
 * the next one that is free is waited for.
 */
export const withLoaders = async <T>(
  setup: LoaderSetup,
  file: PipelineFile | undefined,
  { busy, workers, isSmall }: { readonly busy: number; readonly workers: number; readonly isSmall: boolean },
  work: (pool: LoaderPool) => Promise<T>,
): Promise<T> => {
  const start = await loaderStart(setup, file, isSmall);
  const all = Array.from({ length: busy }, start);
  const idle = [...all];
  const waiting: ((loader: SegmentLoader) => void)[] = [];
  const take = async (): Promise<SegmentLoader> => {
    const free = idle.pop();
    if (free !== undefined) return free;
    if (all.length === workers) return new Promise((resolve) => waiting.push(resolve));
    const started = start();
    all.push(started);
    return started;
  };
  const give = (loader: SegmentLoader): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(loader);
    else next(loader);
  };
  try {
    return await work({
      use: async (load) => {
        const loader = await take();
        try {
          await load(loader);
        } finally {
          give(loader);
        }
      },
    });
  } finally {
    await Promise.all(all.map((loader) => loader.close()));
  }
};
