// Options and result of testPipeline.

import type { DataTestResult } from '../core/data-test.ts';
import type { RunOptions } from '../run/options.ts';

/** Options of testPipeline. */
export interface TestPipelineOptions extends Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'signal'
> {
  /** Tables to test. Default: all. */
  readonly tables?: readonly string[];
}

/** Results of a pipeline's data tests on production. */
export interface TestReport {
  readonly pipeline: string;
  /** The worst outcome of all tests. */
  readonly outcome: DataTestResult['outcome'];
  readonly tests: readonly DataTestResult[];
}
