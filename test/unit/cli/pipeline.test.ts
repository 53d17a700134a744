// How a command finds its pipeline: by a path, a file name, or the pipeline's own name.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadPipeline } from '../../../src/cli/pipeline.ts';
import { failureOf } from '../../helpers/failure.ts';
import { useFiles } from '../../helpers/files.ts';
import { fakeIo } from './fake-io.ts';

const files = useFiles();
const pipelineText = (name: string): string => `
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: '${name}', schema: 'shop',
    tables: { sale: { source: csv('*.csv'), columns: { id: column.integer('id') } } },
  });`;
const load = async (given: string, env = {}) => {
  const loaded = await loadPipeline(given, fakeIo({ workingDirectory: files.directory, env }));
  return [loaded.pipeline.name, loaded.file.slice(files.directory.length + 1)];
};

beforeAll(() => {
  files.write('pipelines/night.ts', pipelineText('night_sales'));
  files.write('pipelines/day.ts', pipelineText('day'));
  files.write('jobs/hourly.ts', pipelineText('hourly'));
  // A folder with the name of a pipeline is not taken for the pipeline.
  mkdirSync(join(files.directory, 'day'));
});

describe('a pipeline is found', () => {
  it.each([
    { by: 'the name of its file', given: 'night', found: ['night_sales', 'pipelines/night.ts'] },
    { by: 'its own name', given: 'night_sales', found: ['night_sales', 'pipelines/night.ts'] },
    { by: 'a name that a folder has as well', given: 'day', found: ['day', 'pipelines/day.ts'] },
  ])('by $by', async ({ given, found }) => expect(await load(given)).toEqual(found));

  it('in the folder that ETL_PIPELINES names, and by a path from anywhere', async () => {
    expect(await load('hourly', { ETL_PIPELINES: 'jobs' })).toEqual(['hourly', 'jobs/hourly.ts']);
    expect(await load(join(files.directory, 'jobs/hourly.ts'))).toEqual(['hourly', 'jobs/hourly.ts']);
  });
});

it('an unknown name is answered with the nearest one, and without a folder with that of a file', async () => {
  expect(await failureOf(load('nigth_sales'))).toMatchObject({
    code: 'ETL_PIPELINE_UNKNOWN',
    message: expect.stringContaining('did you mean night_sales?'),
  });
  files.write('pipelines/broken.ts', 'export default 1;');
  expect(await failureOf(load('weekly'))).toMatchObject({
    code: 'ETL_PIPELINE_UNKNOWN',
    message: expect.stringContaining('these files cannot be loaded: broken.ts'),
  });
  expect(await load('night_sales')).toEqual(['night_sales', 'pipelines/night.ts']);
  expect(await failureOf(load('broken'))).toMatchObject({ code: 'ETL_PIPELINE_FILE' });
  expect(await failureOf(load('night', { ETL_PIPELINES: 'nowhere' }))).toMatchObject({
    code: 'ETL_PIPELINE_FILE',
  });
});
