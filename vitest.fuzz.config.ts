// How `npm run test:fuzz` runs: files by chance through real runs for FUZZ_SECONDS, from FUZZ_SEED on.

import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [] } },
  defineConfig({
    test: {
      include: ['test/fuzz/**/*.test.ts'],
      maxWorkers: 1,
      testTimeout: 7_200_000,
    },
  }),
);
