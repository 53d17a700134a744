// A directory with a database, and runs of pipelines that read its files, night after night; their notices are kept.

import { rmSync } from 'node:fs';
import { main } from '../../src/cli/main.ts';
import { runPipeline, type Pipeline, type RunEvent, type RunResult } from '../../src/index.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { useFiles } from './files.ts';
import { forgetRuns, useDatabase, type TestDatabase } from './server.ts';

type Row = Record<string, unknown>;

/** `given`: options of every run; those of a single one come after them. */
export const usePipelineRuns = (
  given: Partial<Parameters<typeof runPipeline>[1]> = {},
  database: TestDatabase = useDatabase(),
) => {
  const files = useFiles();
  /** Of the newest run. */
  const notices: string[] = [];
  const rowsOf = async (sql: string): Promise<Row[]> => (await database.query(sql)).rows;
  /** The only value of the first row. */
  const one = async (sql: string): Promise<unknown> => Object.values((await rowsOf(sql))[0]!)[0];
  /** For every function of the library that takes a pipeline. */
  const settings = () => ({
    databaseUrl: database.url,
    directory: files.directory,
    workingDirectory: files.directory,
  });
  return {
    files,
    database,
    notices,
    rowsOf,
    settings,
    one,
    /** The same, as text: 'null' where it is null. */
    textOf: async (sql: string): Promise<string> => String(await one(sql)),
    run: async (pipeline: Pipeline, options: object = {}): Promise<RunResult> => {
      notices.length = 0;
      return runPipeline(pipeline, {
        ...settings(),
        workers: 1,
        onEvent: (event: RunEvent) => event.type === 'notice' && notices.push(event.message),
        ...given,
        ...options,
      });
    },
    /** The command line, in the directory and with the database. */
    etl: async (...args: string[]): Promise<{ exit: number; out: string; err: string }> => {
      const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
      const exit = await main(args, io);
      return { exit, out: io.stdout.text, err: io.stderr.text };
    },
    /** Removes `in/`, the schemas and every run. */
    startOver: async (...schemas: readonly string[]): Promise<void> => {
      rmSync(`${files.directory}/in`, { recursive: true, force: true });
      await database.query(`drop schema if exists ${schemas.join(', ')} cascade; ${forgetRuns}`);
    },
  };
};
