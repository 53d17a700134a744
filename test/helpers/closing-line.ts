// Prints the result of a test run as the very last line, in a form that a script can read: `N passed, N
// failed`.

import type { Reporter, TestModule } from 'vitest/node';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * A test that never ended, a file that does not load and a hook that throws have failed, whatever else
 * passed.
 */
const countModule = (module: TestModule, tally: Tally): void => {
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    tally[state === 'pending' ? 'failed' : state] += 1;
  }
  tally.failed += module.errors().length;
  for (const suite of module.children.allSuites()) tally.failed += suite.errors().length;
};

const closingText = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/**
 * A reporter to use beside the default one. It prints when the process ends: everything else comes before.
 */
export const closingLine = (): Reporter => {
  let tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  return {
    onInit: () => {
      process.once('exit', () => console.log(closingText(tally)));
    },
    onTestRunEnd: (modules, unhandledErrors) => {
      tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
      for (const module of modules) countModule(module, tally);
    },
  };
};
