// How `npm run test:page` runs: the page in the system's Chromium and over plain HTTP, with real runs to look at.

import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [] } },
  defineConfig({ test: { include: ['test/page/**/*.test.ts'] } }),
);
