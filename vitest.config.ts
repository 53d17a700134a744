// How `npm test` runs: integration and unit tests on a private PostgreSQL server, two files at a time.

import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { closingLine } from './test/helpers/closing-line.ts';
import { compiledThreads } from './test/helpers/compiled-threads.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Wraps functions of modules, which it must load before anybody else. */
const replacesModules = 'test/integration/fast-path.test.ts';

/** Integration tests before unit tests, which are short: the two processes end together. */
class ShortLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isUnit = ({ moduleId }: TestSpecification): boolean => moduleId.startsWith(path('./test/unit/'));
    return [...sorted.filter((file) => !isUnit(file)), ...sorted.filter(isUnit)];
  }
}

/** What the files of all kinds begin with. */
const common = {
  plugins: [compiledThreads()],
  resolve: { alias: { sluice: path('./src/index.ts') } },
  test: {
    exclude: ['test/fault/**'],
    pool: 'forks' as const,
    // A case that gets to its end without an assertion fails: its loop was empty, or its callback was never called.
    expect: { requireAssertions: true },
    // Real servers are started and real files are loaded.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
};

export default defineConfig({
  ...common,
  test: {
    ...common.test,
    globalSetup: [path('./test/helpers/global-setup.ts')],
    reporters: ['default', closingLine()],
    maxWorkers: 2,
    sequence: { sequencer: ShortLast },
    projects: [
      // First by its name: Vitest ends a shared process whose next file belongs to another project.
      { ...common, test: { ...common.test, name: 'alone', include: [replacesModules] } },
      // The files share a process: loading the sources anew takes longer than many of them.
      {
        ...common,
        test: {
          ...common.test,
          name: 'shared',
          include: ['test/integration/**/*.test.ts', 'test/unit/**/*.test.ts'],
          exclude: [...common.test.exclude, replacesModules],
          isolate: false,
        },
      },
    ],
  },
});
