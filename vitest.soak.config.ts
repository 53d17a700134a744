// How `npm run test:soak` runs: hundreds of scheduled runs over workers that are killed; SOAK_RUNS and SOAK_SEED say which.

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const setup = fileURLToPath(new URL('./test/helpers/soak-setup.ts', import.meta.url));

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [] } },
  defineConfig({
    test: {
      include: ['test/soak/**/*.test.ts'],
      // Beside the one of `npm test`, whose server it uses.
      globalSetup: [setup],
      maxWorkers: 1,
      // All of it happens in a hook: the tests look at what came of it.
      hookTimeout: 3_600_000,
    },
  }),
);
