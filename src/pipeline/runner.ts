// Options of threads: their memory, and how they run this package's own sources before these are compiled.

import type { WorkerOptions } from 'node:worker_threads';

/**
 * For a thread's short-lived objects, in megabytes. V8's own 48 fill up, in each thread, with what is long dead; with less, a load
 * takes as much processor time (docs/benchmarks/findings.md, "Memory").
 */
const maxYoungGenerationSizeMb = 3;

/** Options for a `Worker` whose module this is: TypeScript is transpiled as it is imported. */
export const runnerOptions = ({ pathname }: URL): WorkerOptions => ({
  ...(pathname.endsWith('.ts') && { execArgv: ['--import', import.meta.resolve('jiti/register')] }),
  resourceLimits: { maxYoungGenerationSizeMb },
});
