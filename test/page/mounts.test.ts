// The page below a path of services of Hono, Express and Fastify, by the files that the guide shows: pages, live updates and forms.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mount as mountExpress } from '../../examples/mounting/express.ts';
import { mount as mountFastify } from '../../examples/mounting/fastify.ts';
import { mount as mountHono } from '../../examples/mounting/hono.ts';
import { createPage, loadPipelineFile, schedule, type EtlPage } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const { directory, write } = useFiles();
const place = () => ({ databaseUrl: database.url, redis: false }) as const;

const listening = async (server: Server): Promise<Server> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const services: readonly { service: string; start: (page: EtlPage) => Promise<Server> }[] = [
  {
    service: 'Hono',
    start: (page) => {
      const app = new Hono().get('/', (context) => context.text('its own'));
      mountHono(app, page);
      const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
      return listening(createServer((request, response) => void listener(request, response)));
    },
  },
  {
    service: 'Express',
    start: (page) => {
      const app = express();
      mountExpress(app, page);
      app.use(express.urlencoded());
      app.get('/', (_, response) => void response.send('its own'));
      return listening(createServer(app));
    },
  },
  {
    service: 'Fastify',
    start: async (page) => {
      const app = fastify();
      mountFastify(app, page);
      app.get('/', () => 'its own');
      await app.listen({ port: 0, host: '127.0.0.1' });
      return app.server;
    },
  },
];

beforeAll(async () => {
  const { pipeline } = await loadPipelineFile(
    write(
      'words.ts',
      `import { column, csv, definePipeline } from 'sluice';
      export default definePipeline({
        name: 'words',
        schema: 'words',
        tables: { word: { source: csv('words.csv'), columns: { n: column.integer('n') } } },
      });`,
    ),
  );
  await schedule.set('nightly', pipeline, { ...place(), directory, cron: '0 3 * * *' });
});

describe.each(services)('$service', ({ start }) => {
  let page: EtlPage;
  let server: Server;
  let origin = '';
  beforeAll(async () => {
    page = createPage({ ...place(), basePath: '/etl', token: false, control: true });
    server = await start(page);
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await page.close();
    server.close();
    server.closeAllConnections();
  });

  it('shows pages below its path, and nothing else', async () => {
    for (const path of ['/etl', '/etl/', '/etl/schedules']) {
      const answer = await fetch(origin + path);
      const text = await answer.text();
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      expect(text).toContain('href="/etl/assets/page.css"');
      expect(text.match(/(?:href|src)="\/(?!etl\/)[^"]*"/g)).toBeNull();
    }
    expect((await fetch(`${origin}/etl/assets/page.css`)).headers.get('content-type')).toMatch(/^text\/css/);
    expect((await fetch(`${origin}/etl/no-such-page`)).status).toBe(404);
    expect(await (await fetch(origin)).text()).toBe('its own');
  });

  /** The first event of a stream, which is closed after it. */
  const firstEvent = async (have = ''): Promise<string> => {
    const answer = await fetch(`${origin}/etl/live?path=/schedules${have}`);
    const { headers } = answer;
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(headers.get('content-encoding')).toBe('gzip');
    let text = '';
    for await (const bytes of answer.body!) {
      text += Buffer.from(bytes).toString();
      if (text.includes('\n\n')) break;
    }
    return text;
  };

  it('sends live updates while they come, compressed, and nothing that the browser has', async () => {
    const text = await firstEvent();
    expect(text).toMatch(/^event: sections\ndata: .*nightly/);
    const { changed } = JSON.parse(text.split('data: ')[1]!);
    const pairs: string[] = changed.map(({ id, hash }: { id: string; hash: string }) => `${id}.${hash}`);
    expect(await firstEvent(`&have=${pairs.join()}`)).toMatch(/^event: pulse\n/);
    const others = [...pairs.slice(1), `${changed[0].id}.0123456789abcdef`, 'gone.0123456789abcdef'];
    const more = await firstEvent(`&have=${others.join()}`);
    expect(JSON.parse(more.split('data: ')[1]!)).toEqual({
      ids: changed.map(({ id }: { id: string }) => id),
      changed: changed.slice(0, 1),
    });
  });

  it('has room for the streams of others when some have ended', async () => {
    for (let stream = 0; stream < 40; stream += 1) {
      expect(await firstEvent()).toMatch(/^event: sections/);
    }
  });

  it('takes a form, and knows who sent it', async () => {
    const isPaused = async (): Promise<boolean> => (await schedule.list(place()))[0]!.paused;
    const [now, then] = (await isPaused()) ? ['resume', false] : ['pause', true];
    const form = `${origin}/etl/schedules/nightly/${now}`;
    const shown = await fetch(form);
    const cookie = shown.headers.get('set-cookie')!.split(';')[0]!;
    const key = /name="key" value="([^"]+)"/.exec(await shown.text())![1]!;
    const body = new URLSearchParams({ key });
    const answer = await fetch(form, {
      method: 'POST',
      body,
      headers: { cookie, origin },
      redirect: 'manual',
    });
    expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
      status: 303,
      location: expect.stringMatching(/^\/etl\/actions\/\d+$/),
    });
    expect(await isPaused()).toBe(then);
    const { rows } = await database.query('select action, address from etl.audit order by id desc limit 1');
    expect(rows).toEqual([{ action: now, address: '127.0.0.1' }]);
  });
});
