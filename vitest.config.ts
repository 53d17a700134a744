// How `npm test` runs: integration and unit tests on a private PostgreSQL server, two files at a time.

import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import { closingLine } from './test/helpers/closing-line.ts';
import { compiledThreads } from './test/helpers/compiled-threads.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** What the files of both kinds begin with. */
const common = {
  plugins: [compiledThreads()],
  resolve: { alias: { sluice: path('./src/index.ts') } },
  test: {
    exclude: ['test/fault/**'],
    pool: 'forks' as const,
    // A case that gets to its end without an assertion fails: its loop was empty, or its callback was never called.
    expect: { requireAssertions: true },
    // Real servers are started and real files are loaded.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
};

export default defineConfig({
  ...common,
  test: {
    ...common.test,
    globalSetup: [path('./test/helpers/global-setup.ts')],
    reporters: ['default', closingLine()],
    maxWorkers: 2,
    projects: [
      {
        ...common,
        test: { ...common.test, name: 'integration', include: ['test/integration/**/*.test.ts'] },
      },
      {
        ...common,
        // They leave nothing in their process, and starting one takes longer than most of them.
        test: { ...common.test, name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false },
      },
    ],
  },
});
