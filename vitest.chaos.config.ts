// How `npm run test:chaos` runs: random faults for as long as CHAOS_SECONDS says, chosen by CHAOS_SEED.

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const setup = fileURLToPath(new URL('./test/helpers/soak-setup.ts', import.meta.url));

export default mergeConfig(
  // The test has a server of its own, which it kills.
  { ...base, test: { ...base.test, projects: undefined, exclude: [], globalSetup: [] } },
  defineConfig({
    test: {
      include: ['test/chaos/**/*.test.ts'],
      globalSetup: [setup],
      maxWorkers: 1,
      // Everything happens in a hook; the tests look at the result.
      hookTimeout: 7_200_000,
    },
  }),
);
