// Opens one loader per worker, in threads if that saves time and the plan can be cloned.

import type { Client } from '../../db/client.ts';
import type { Loader } from '../chunk/loader.ts';
import type { LoadPlan } from '../load-plan.ts';
import { createPool, type Pool } from './pool.ts';
import { startThreadLoader } from './thread-loader.ts';

/** Returns a plan that can be cloned, with `file` only if functions need it, or undefined. */
const planForThread = (plan: LoadPlan): LoadPlan | undefined => {
  const withoutFunctions = plan.tables.map(({ table, ...rest }) => ({
    ...rest,
    table: { ...table, columns: [], filter: [], publish: 'replace' as const },
  }));
  // A cloned Zod schema has lost its methods, although cloning it throws no error.
  const hasSchema = plan.tables.some(({ table }) => table.columns.some(({ schema }) => schema !== undefined));
  const plans = [
    ...(hasSchema ? [] : [{ ...plan, file: undefined }]),
    ...(plan.file === undefined ? [] : [{ ...plan, tables: withoutFunctions }]),
  ];
  return plans.find(isCloneable);
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

/** True if loading calls functions of the pipeline, which may take any time, even for one record. */
export const callsFunctions = (plan: LoadPlan): boolean => {
  const forThread = planForThread(plan);
  return forThread === undefined || forThread.file !== undefined;
};

interface Loaders {
  readonly busy: number;
  readonly workers: number;
  readonly isSmall: boolean;
  /** The connection over which everything is loaded, unless loaders open their own. */
  readonly over: Client | undefined;
}

/** Returns a function that starts a loader. Imports the decoders only if the main thread loads. */
const loaderStart = async (plan: LoadPlan, { isSmall, over }: Loaders): Promise<() => Loader> => {
  const forThread = planForThread(plan);
  const isHere = over !== undefined || (isSmall && forThread?.file === undefined);
  if (forThread !== undefined && !isHere) return () => startThreadLoader(forThread);
  const { createLoader, createLoaderOver } = await import('./main-loader.ts');
  return () => (over === undefined ? createLoader(plan) : createLoaderOver(over, plan));
};

/** Opens the loaders of a run: `busy` loaders start at once, the others when needed. */
export const openLoaders = async (
  plan: LoadPlan,
  size: Loaders,
): Promise<{ readonly loaders: Pool<Loader>; readonly close: () => Promise<unknown> }> => {
  const start = await loaderStart(plan, size);
  const { busy, workers } = size;
  const all: Loader[] = [];
  const make = (): Loader => {
    const loader = start();
    all.push(loader);
    return loader;
  };
  const close = (): Promise<unknown> => Promise.all(all.map((loader) => loader.close()));
  try {
    return { loaders: createPool(workers, make, Array.from({ length: busy }, make)), close };
  } catch (error) {
    await close();
    throw error;
  }
};
