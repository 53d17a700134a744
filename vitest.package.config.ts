// How `npm run test:package` runs: the package as npm packs it, installed elsewhere, on every Node that it promises.

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const setup = fileURLToPath(new URL('./test/helpers/package-setup.ts', import.meta.url));

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [], globalSetup: [] } },
  defineConfig({
    test: {
      include: ['test/package/**/*.test.ts'],
      globalSetup: [setup],
      maxWorkers: 2,
      // A registry is asked, and a server set up for each project.
      testTimeout: 360_000,
      hookTimeout: 600_000,
    },
  }),
);
