// How `npm test` runs: unit and integration tests on a private PostgreSQL server, two files at a time.

import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import { closingLine } from './test/helpers/closing-line.ts';
import { compiledThreads } from './test/helpers/compiled-threads.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  plugins: [compiledThreads()],
  resolve: { alias: { sluice: path('./src/index.ts') } },
  test: {
    include: ['test/unit/**/*.test.ts', 'test/integration/**/*.test.ts'],
    exclude: ['test/fault/**'],
    globalSetup: [path('./test/helpers/global-setup.ts')],
    reporters: ['default', closingLine()],
    pool: 'forks',
    maxWorkers: 2,
    // Real servers are started and real files are loaded.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
