// How `npm test` runs: integration and unit tests on a private PostgreSQL server, two files at a time.

import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import { closingLine } from './test/helpers/closing-line.ts';
import { compiledThreads } from './test/helpers/compiled-threads.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Wraps functions of modules, which it must load before anybody else. */
const replacesModules = 'test/integration/fast-path.test.ts';

/** What the files of all kinds begin with. */
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
      // The files of a project share a process: loading the sources anew takes longer than many of them.
      {
        ...common,
        test: {
          ...common.test,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: [...common.test.exclude, replacesModules],
          isolate: false,
        },
      },
      { ...common, test: { ...common.test, name: 'isolated', include: [replacesModules] } },
      {
        ...common,
        test: { ...common.test, name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false },
      },
    ],
  },
});
