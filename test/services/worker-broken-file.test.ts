// A folder with a pipeline file that cannot be loaded: the worker serves the others, and says so.

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enqueue, loadPipelineFile, queueState } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const database = useDatabase();
const { directory, write } = useFiles();
const place = () => ({ databaseUrl: database.url, redis: false as const, workingDirectory: directory });
const workers = useWorkers(() => ({ ...place(), pipelines: join(directory, 'pipelines') }));

const broken = `throw new Error('half edited');`;

it('a broken file stops no other pipeline; log, health, metrics and failures name it', async () => {
  write('a.csv', 'id\n1\n');
  write('pipelines/half.ts', broken);
  write(
    'pipelines/good.ts',
    `import { column, csv, definePipeline } from 'sluice';
     const tables = { t: { source: csv('a.csv'), columns: { id: column.integer('id') } } };
     export default definePipeline({ name: 'good', schema: 'good', tables });`,
  );
  const worker = await workers.start({ health: { port: 0 } });
  expect(worker.pipelines).toEqual(['good']);
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${worker.healthPort}${path}`)).text();
  expect(await ask('/health')).toBe('live\ncannot load half.ts\n');
  expect(await ask('/metrics')).toContain('sluice_pipeline_file_broken{file="half.ts"} 1');
  expect(workers.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      code: 'ETL_PIPELINE_FILE',
      message: 'a pipeline file is broken',
    }),
  );
  const { pipeline } = await loadPipelineFile(join(directory, 'pipelines/good.ts'));
  const { job } = await enqueue(pipeline, { ...place(), directory: join(directory, 'pipelines') });
  await until(() => workers.lines.some(({ message, job: of }) => message === 'run ended' && of === job));
  const { rows } = await database.query(`select error_code, error from etl.failure`);
  expect(rows).toEqual([{ error_code: 'ETL_PIPELINE_FILE', error: expect.stringContaining('half edited') }]);
  expect((await queueState(place())).failed).toBe(0);
});

it('a folder of broken files alone is refused', async () => {
  write('broken/half.ts', broken);
  const error = await failureOf(workers.start({ pipelines: join(directory, 'broken') }));
  expect(error).toMatchObject({ code: 'ETL_PIPELINE_FILE' });
});
