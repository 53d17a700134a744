// How `npm run test:services` runs: workers, queues, schedules, embedded servers and examples, which wait more than they compute.

import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [] } },
  defineConfig({ test: { include: ['test/services/**/*.test.ts'], isolate: false } }),
);
