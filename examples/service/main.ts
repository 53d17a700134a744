// A service that embeds sluice. It needs DATABASE_URL, and listens on 127.0.0.1 at PORT (any free one by default).
//
//   npx jiti examples/service/main.ts

import { serve } from '@hono/node-server';
import { createPage, loadPipelineFile } from 'sluice';
import { createApp } from './app.ts';
import { createRuns } from './runs.ts';

const stopping = new AbortController();
// With `pipelineFile` the pipeline's functions run in threads, and requests are answered at any load.
const { pipeline, directory, file } = await loadPipelineFile('pipelines/noaa.ts');
const options = {
  databaseUrl: process.env['DATABASE_URL'],
  directory,
  pipelineFile: file,
  drain: stopping.signal,
};
const runs = createRuns();
// Who has its address may look at everything, cancel runs and try them again.
const etl = createPage({ databaseUrl: options.databaseUrl, basePath: '/etl', control: true });
const app = createApp({ runs, etl, pipelines: new Map([[pipeline.name, { pipeline, options }]]) });

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 0) },
  ({ port }) => {
    console.log(`http://127.0.0.1:${port}/`);
    console.log(`http://127.0.0.1:${port}/etl/?token=${etl.token}`);
  },
);

// The library leaves signals to its host. Runs end after the chunks in flight, their viewers are told, and with the last of
// them the process ends; the next run continues where this one stopped.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopping.abort(new Error(signal));
    // Ends its live updates, which would keep the server.
    void etl.close();
    server.close();
  });
