// Compares the files of a pipeline with production, for the library.
//
// The types of what it exports need no package: test/package/production.test.ts compiles them without any.

import type { Pipeline } from '../../pipeline/define-pipeline.ts';
import { onServer } from '../../run/find-server.ts';
import type { VerifyOptions, VerifyReport } from './report.ts';
import { verifyOn } from './verify.ts';

/**
 * Counts the files in production again, with csv-parse, and compares them with production's rows; differences are results, not errors. The
 * server is found as by runPipeline. Errors: those of the definition, its files, its functions and the server, ETL_VERIFY_NOTHING,
 * ETL_VERIFY_MOVED, ETL_VERIFY_HASH, ETL_SCHEMA_OLDER.
 */
export const verifyPipeline = (pipeline: Pipeline, options: VerifyOptions = {}): Promise<VerifyReport> =>
  onServer(options, (client) => verifyOn(pipeline, options, client));
