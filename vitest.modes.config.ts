// How `npm run test:modes` runs: every way of publishing against every shape of table, on the private server of `npm test`.

import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined, exclude: [] } },
  defineConfig({ test: { include: ['test/modes/**/*.test.ts'], isolate: false } }),
);
