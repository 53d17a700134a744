// A directory with a database, and runs of pipelines that read its files, night after night; their notices are kept.

import { runPipeline, type Pipeline, type RunEvent, type RunResult } from '../../src/index.ts';
import { useFiles } from './files.ts';
import { useDatabase } from './server.ts';

/** `given`: options of every run; those of a single one come after them. */
export const usePipelineRuns = (given: Partial<Parameters<typeof runPipeline>[1]> = {}) => {
  const files = useFiles();
  const database = useDatabase();
  /** Of the newest run. */
  const notices: string[] = [];
  return {
    files,
    database,
    notices,
    rowsOf: async (sql: string): Promise<Record<string, unknown>[]> => (await database.query(sql)).rows,
    run: async (pipeline: Pipeline, options: object = {}): Promise<RunResult> => {
      notices.length = 0;
      return runPipeline(pipeline, {
        databaseUrl: database.url,
        directory: files.directory,
        workingDirectory: files.directory,
        workers: 1,
        onEvent: (event: RunEvent) => event.type === 'notice' && notices.push(event.message),
        ...given,
        ...options,
      });
    },
  };
};
