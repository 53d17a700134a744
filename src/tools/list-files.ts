// listFiles() of the library. The types of its exports do not need any package:
// test/package/production.test.ts compiles them without packages.

import type { Pipeline } from '../pipeline/define-pipeline.ts';
import type { FileState } from '../core/file-state.ts';
import { filesOf } from './file-states.ts';
import type { RunOptions } from '../run/options.ts';
import { onServer } from '../run/find-server.ts';

/** Options of listFiles. */
export type ListOptions = Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'workingDirectory'
>;

/**
 * Lists the files of a pipeline with their states, like `etl files`, including files in production
 * that no longer exist. The server is found as by runPipeline.
 *
 * @throws EtlError errors of the definition, its files and the server · ETL_SCHEMA_OLDER
 */
export const listFiles = (pipeline: Pipeline, options: ListOptions = {}): Promise<readonly FileState[]> =>
  onServer(options, (client) => filesOf(pipeline, options, client));
