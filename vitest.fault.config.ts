// How `npm run test:fault` runs: real kills against real servers, one for each file, two files at a time.

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const setup = fileURLToPath(new URL('./test/helpers/fault-setup.ts', import.meta.url));

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [] } },
  defineConfig({
    test: {
      include: ['test/fault/**/*.test.ts'],
      // Beside the one of `npm test`, for tests that need no kills of the server.
      globalSetup: [setup],
      // Of concurrent tests, which mostly wait.
      maxConcurrency: 8,
      testTimeout: 900_000,
      hookTimeout: 300_000,
    },
  }),
);
