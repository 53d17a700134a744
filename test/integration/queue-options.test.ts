// Server options in a connection string stand beside those by which BullMQ finds its tables.

import { expect, it } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/address.ts';
import { loadPipelineFile } from '../../src/pipeline/load-file.ts';
import { runPipeline } from '../../src/run/run-pipeline.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

it('a run whose URL sets search_path and more finds the queue, and its own sessions keep what was set', async () => {
  const options = '-c search_path=public -c work_mem=5MB';
  const databaseUrl = `${database.url}?options=${encodeURIComponent(options)}&application_name=mine`;
  const { pipeline, directory, file } = await loadPipelineFile('pipelines/noaa.ts');
  const run = { databaseUrl, redis: false as const, directory, pipelineFile: file, workers: 1 };
  expect((await runPipeline(pipeline, run)).outcome).toBe('published');
  const setting = await withClient(addressFromUrl(databaseUrl), (client) => client.query('show work_mem'));
  expect(setting.rows).toEqual([{ work_mem: '5MB' }]);
});
