// testPipeline() of the library. The types of its exports do not need any package:
// test/package/production.test.ts compiles them without packages.

import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { onServer } from '../run/find-server.ts';
import { testsOf } from './production-tests.ts';
import type { TestPipelineOptions, TestReport } from './test-report.ts';

/**
 * Runs the data tests of a pipeline on production, like `etl test`. A failed test is a result, not
 * an error. The server is found as by runPipeline.
 *
 * @throws EtlError ETL_TEST_NO_TABLE: a table does not exist · ETL_TEST_REFUSED: the server refuses
 *   a test · errors of the definition and the server
 */
export const testPipeline = (pipeline: Pipeline, options: TestPipelineOptions = {}): Promise<TestReport> =>
  onServer(options, (client) => testsOf(pipeline, options, client));
