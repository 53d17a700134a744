// How `npm run test:hosts` runs: several hosts in network namespaces; HOSTS_SECONDS and HOSTS_SEED say for how long and which faults.

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const setup = fileURLToPath(new URL('./test/helpers/soak-setup.ts', import.meta.url));

export default mergeConfig(
  // Each file has hosts of its own, with a server that is cut off.
  { ...base, test: { ...base.test, projects: undefined, exclude: [], globalSetup: [] } },
  defineConfig({
    test: {
      include: ['test/hosts/**/*.test.ts'],
      globalSetup: [setup],
      // They mostly wait.
      maxWorkers: 4,
      testTimeout: 900_000,
      hookTimeout: 7_200_000,
    },
  }),
);
