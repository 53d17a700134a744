// BullMQ finds its tables by a search path that is set after login; options of the connection
// string stay.

import type { PostgresQueueBackend } from 'bullmq';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { loadPipelineFile } from '../../src/pipeline/load-file.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { runPipeline } from '../../src/run/run-pipeline.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const options = '-c search_path=public -c work_mem=5MB';
const urlWithOptions = (): string =>
  `${database.url}?options=${encodeURIComponent(options)}&application_name=mine`;

it('a run whose URL sets search_path and more finds the queue, and its own sessions keep what was set', async () => {
  const { pipeline, directory, file } = await loadPipelineFile('pipelines/noaa.ts');
  const run = {
    databaseUrl: urlWithOptions(),
    redis: false as const,
    directory,
    pipelineFile: file,
    workers: 1,
    // Less than the files have together: the run needs its queue.
    chunkBytes: 64 * 1024,
  };
  expect((await runPipeline(pipeline, run)).outcome).toBe('published');
  const setting = await withClient(addressFromUrl(urlWithOptions()), (client) =>
    client.query('show work_mem'),
  );
  expect(setting.rows).toEqual([{ work_mem: '5MB' }]);
});

interface Startup {
  readonly connectionParameters: { readonly options?: string };
}

const shown = async (client: pg.ClientBase): Promise<Record<string, unknown>> => {
  const { rows } = await client.query(`select current_setting('search_path') as path,
    current_setting('application_name') as name, current_setting('work_mem') as memory`);
  return { ...rows[0], startup: (client as unknown as Startup).connectionParameters.options };
};

it.each([
  { what: 'sends no options of its own, which a pooler would refuse', memory: '4MB', startup: undefined },
  { what: "sends the host's options as they are", memory: '5MB', startup: options },
])('a session of BullMQ has its search path, and $what', async ({ memory, startup }) => {
  const backend = postgresBackend(addressFromUrl(startup === undefined ? database.url : urlWithOptions()));
  await backend.prepare();
  const connected = backend.connect('', 'gives up');
  const queue = connected.factory('path', connected.options, {
    withBlockingConnection: true,
  }) as PostgresQueueBackend;
  const pooled = (await queue.connection.pool.connect()) as unknown as pg.PoolClient;
  const listening = (await queue.connection.getListenClient()) as unknown as pg.Client;
  const path = 'pg_catalog, etl_queue, pg_temp';
  const session = { path, name: 'sluice queue', memory, startup };
  expect([await shown(pooled), await shown(listening)]).toEqual([session, session]);
  pooled.release();
  await queue.close();
  connected.destroy();
});
