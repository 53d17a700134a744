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
  /** Name of the pipeline whose tables were tested. */
  readonly pipeline: string;
  /** The worst outcome of all tests. */
  readonly outcome: DataTestResult['outcome'];
  /** The result of each test, table by table. */
  readonly tests: readonly DataTestResult[];
}
