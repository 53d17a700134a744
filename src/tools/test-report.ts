// Options and result of testing production. Types only, because the library exports them.

import type { DataTestResult } from '../core/declaration/data-test.ts';
import type { RunOptions } from '../run/options.ts';

export interface TestPipelineOptions extends Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'signal'
> {
  /** Tables that are tested. Default: all. */
  readonly tables?: readonly string[];
}

/** What the tests of a pipeline found in production. */
export interface TestReport {
  readonly pipeline: string;
  /** The worst of the tests. */
  readonly outcome: DataTestResult['outcome'];
  readonly tests: readonly DataTestResult[];
}
