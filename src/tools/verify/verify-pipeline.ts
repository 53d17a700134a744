// verifyPipeline() of the library. The types of its exports do not need any package:
// test/package/production.test.ts compiles them without packages.

import type { Pipeline } from '../../pipeline/define-pipeline.ts';
import { onServer } from '../../run/find-server.ts';
import type { VerifyOptions, VerifyReport } from './report.ts';
import { verifyOn } from './verify.ts';

/**
 * Compares the rows in production with the files from which they were loaded, like `etl verify`.
 * The files are read in full, with csv-parse instead of our own parser. Nothing is written. A
 * difference is a result, not an error. The server is found as by runPipeline.
 *
 * @throws EtlError ETL_VERIFY_NOTHING: no file is in production · ETL_VERIFY_MOVED: other runs
 *   publish all the time · ETL_VERIFY_HASH: the server's hashes are different · ETL_SCHEMA_OLDER ·
 *   errors of the definition, its files, its functions and the server
 */
export const verifyPipeline = (pipeline: Pipeline, options: VerifyOptions = {}): Promise<VerifyReport> =>
  onServer(options, (client) => verifyOn(pipeline, options, client));
