// A job that is delivered twice, because its worker was paused for longer than it keeps its lock: the later one changes nothing.

import { afterEach, expect, it } from 'vitest';
import { loadPipelineFile } from '../../src/pipeline/load-file.ts';
import { runForWorker } from '../../src/run/run-pipeline.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();

const deliver = async (job: string) => {
  const file = files.write(
    'late.ts',
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({
      name: 'late',
      schema: 'late',
      tables: { words: { source: csv('words.csv'), columns: { n: column.integer('n') } } },
    });`,
  );
  const { pipeline, directory } = await loadPipelineFile(file);
  const options = {
    databaseUrl: database.url,
    redis: false as const,
    directory,
    pipelineFile: file,
    workingDirectory: files.directory,
    workers: 1,
  };
  const { runId, outcome } = await runForWorker(pipeline, options, { jobId: job });
  return { runId, outcome };
};

const published = async () =>
  (await database.query(`select job, (select sum(n)::int from late.words) as sum from etl.run order by id`))
    .rows;

afterEach(() => database.query('drop schema if exists late, etl cascade'));

it('one that comes when the run of the first is published finds that run, though the files have changed since', async () => {
  files.write('words.csv', 'n\n1\n2\n');
  const first = await deliver('one');
  files.write('words.csv', 'n\n1\n2\n3\n');
  expect(await deliver('one')).toEqual({ runId: first.runId, outcome: 'published' });
  expect(await published()).toEqual([{ job: 'one', sum: 3 }]);
});

it('another job loads the files that have changed', async () => {
  files.write('words.csv', 'n\n1\n2\n');
  await deliver('one');
  files.write('words.csv', 'n\n1\n2\n3\n');
  expect(await deliver('two')).toMatchObject({ outcome: 'published' });
  expect(await published()).toEqual([
    { job: 'one', sum: 6 },
    { job: 'two', sum: 6 },
  ]);
});
