// Options of our worker threads: their memory, and a TypeScript loader if src/ runs uncompiled.

import type { WorkerOptions } from 'node:worker_threads';

/**
 * Memory for a thread's new objects. V8's default of 48 MB fills with garbage and is no faster
 * (docs/benchmarks/findings.md).
 */
const maxYoungGenerationSizeMb = 3;

/** Options of a `Worker` that runs this module. jiti transpiles TypeScript modules. */
export const runnerOptions = ({ pathname }: URL): WorkerOptions => ({
  ...(pathname.endsWith('.ts') && { execArgv: ['--import', import.meta.resolve('jiti/register')] }),
  resourceLimits: { maxYoungGenerationSizeMb },
});
