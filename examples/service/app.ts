// The service's HTTP: a run is started, followed by server-sent events, and stopped.
//
//   GET    /                   a page that starts a run and shows its progress
//   POST   /pipelines/:name    starts a run; answers 202 with where to follow it
//   GET    /runs/:id/events    server-sent events: what the run says, from the first to the last
//   DELETE /runs/:id           stops it; the next run continues it
//   /etl/…                     sluice's own page: every run, its chunks and rejects, schedules and queues

import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { EtlPage, Pipeline, RunOptions } from 'sluice';
import { mount } from '../mounting/hono.ts';
import { page } from './page.ts';
import type { Runs } from './runs.ts';

export interface AppOptions {
  /** Only these can be started: what comes over the network never names a file. */
  readonly pipelines: ReadonlyMap<string, { readonly pipeline: Pipeline; readonly options: RunOptions }>;
  readonly runs: Runs;
  readonly etl: EtlPage;
}

export const createApp = ({ pipelines, runs, etl }: AppOptions): Hono => {
  const app = new Hono();
  mount(app, etl);

  app.get('/', (context) => context.html(page([...pipelines.keys()])));

  app.post('/pipelines/:name', (context) => {
    const found = pipelines.get(context.req.param('name'));
    if (found === undefined) return context.json({ error: 'no such pipeline' }, 404);
    const { id } = runs.start(found.pipeline, found.options);
    return context.json({ events: `/runs/${id}/events` }, 202);
  });

  app.get('/runs/:id/events', (context) => {
    const run = runs.find(Number(context.req.param('id')));
    if (run === undefined) return context.json({ error: 'no such run' }, 404);
    // A browser that lost its connection says what it saw last, and gets the rest.
    const seen = context.req.header('last-event-id');
    return streamSSE(context, async (stream) => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      for await (const { number, news } of run.follow(seen === undefined ? 0 : Number(seen) + 1, left.signal))
        await stream.writeSSE({ id: String(number), event: news.type, data: JSON.stringify(news) });
      // Else the browser would connect again.
      await stream.writeSSE({ event: 'end', data: '' });
    });
  });

  app.delete('/runs/:id', async (context) => {
    const run = runs.find(Number(context.req.param('id')));
    if (run === undefined) return context.json({ error: 'no such run' }, 404);
    run.stop();
    await run.ended;
    return context.body(null, 204);
  });

  return app;
};
