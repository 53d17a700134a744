// The library's list of a pipeline's files.
//
// The types of what it exports need no package: test/package/production.test.ts compiles them without any.

import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { filesOf, type FileState } from './file-states.ts';
import type { RunOptions } from '../run/options.ts';
import { onServer } from '../run/find-server.ts';

export type ListOptions = Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'workingDirectory'
>;

/**
 * Lists the files of a pipeline, and those in production that are gone. The server is found as by runPipeline. Errors: those of the
 * definition, its files and the server, ETL_SCHEMA_OLDER.
 */
export const listFiles = (pipeline: Pipeline, options: ListOptions = {}): Promise<readonly FileState[]> =>
  onServer(options, (client) => filesOf(pipeline, options, client));
