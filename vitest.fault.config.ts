// How `npm run test:fault` runs: real kills against real servers, one file at a time so that each has the machine.

import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: { include: ['test/fault/**/*.test.ts'], maxWorkers: 1, testTimeout: 900_000, hookTimeout: 120_000 },
  }),
);
