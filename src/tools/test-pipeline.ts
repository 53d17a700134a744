// Runs the data tests of a pipeline on production, for the library.
//
// The types of what it exports need no package: test/package/production.test.ts compiles them without any.

import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { onServer } from '../run/find-server.ts';
import { testsOf } from './production-tests.ts';
import type { TestPipelineOptions, TestReport } from './test-report.ts';

/**
 * Tests production; tests that fail are results, not errors. The server is found as by runPipeline. Errors: those of the definition and
 * the server, ETL_TEST_NO_TABLE, ETL_TEST_REFUSED.
 */
export const testPipeline = (pipeline: Pipeline, options: TestPipelineOptions = {}): Promise<TestReport> =>
  onServer(options, (client) => testsOf(pipeline, options, client));
