// BullMQ's board beside the page, on queues of both kinds: it shows what is there, and changes it only with control.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Hono } from 'hono';
import { createReadPool } from '../../src/db/read-pool.ts';
import { enqueue, loadPipelineFile, queueState } from '../../src/index.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { createBoard } from '../../src/page/board.ts';
import { findSite } from '../../src/worker/find-site.ts';
import { useBrowser } from '../helpers/browser.ts';
import { useFiles } from '../helpers/files.ts';
import { serveSite, type ServedPage } from '../helpers/page-site.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace } from '../helpers/workers.ts';

const open = useBrowser();

const wordsText = `
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: 'words',
    schema: 'words',
    tables: { word: { source: csv('words.csv'), columns: { n: column.integer('n') } } },
  });`;

describe.each(queueKinds)('on $kind', ({ kind }) => {
  const database = useDatabase();
  const { directory, write } = useFiles();
  const { place } = usePlace(kind, database);
  const served: ServedPage[] = [];
  let job = '';

  const serve = async (control: boolean): Promise<ServedPage> => {
    const page = await serveSite(database.url, { ...place(), control, board: true, basePath: '/etl' });
    served.push(page);
    return page;
  };
  const send = ({ origin, token }: ServedPage, method: string, path: string, headers: object = {}) =>
    fetch(`${origin}/etl/board${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });

  beforeAll(async () => {
    const { pipeline } = await loadPipelineFile(write('pipelines/words.ts', wordsText));
    ({ job } = await enqueue(pipeline, { ...place(), directory, at: new Date(Date.now() + 3_600_000) }));
  });
  afterAll(async () => {
    for (const page of served) await page.close();
  });

  it('shows jobs in a browser that loads nothing from elsewhere, and changes none of them', async () => {
    const page = await serve(false);
    const visit = await open(`${page.origin}/etl/?token=${page.token}`);
    await visit.page.getByRole('link', { name: 'BullMQ' }).click();
    await visit.page.getByText('etl-run').first().waitFor();
    await visit.go('/etl/board/queue/etl-run?status=delayed');
    await visit.page.getByText(job).first().waitFor();
    await visit.shoot(`board-${kind}`);
    expect(visit.problems()).toEqual([]);
    await visit.close();
    const refused = await send(page, 'PUT', `/api/queues/etl-run/${job}/clean`, { origin: page.origin });
    expect([403, 405]).toContain(refused.status);
    expect(await queueState(place())).toMatchObject({ delayed: 1 });
  });

  it('asks for the token and the host, also for its own files', async () => {
    const page = await serve(false);
    for (const path of ['', '/api/queues', '/static/css/main.css']) {
      expect((await fetch(`${page.origin}/etl/board${path}`)).status).toBe(401);
      expect((await send(page, 'GET', path)).headers.get('content-security-policy')).toMatch(
        path.startsWith('/static') ? /./ : /script-src 'self'; style-src 'self' 'unsafe-inline'/,
      );
    }
    for (const path of ['/static/../../../../../package.json', '/static/%2e%2e/%2e%2e/package.json'])
      expect(await (await send(page, 'GET', path)).text()).not.toContain('devDependencies');
  });

  it('has no connection left when its page is closed', async () => {
    const page = await serve(false);
    expect((await send(page, 'GET', '/api/queues')).status).toBe(200);
    for (const each of served.splice(0)) await each.close();
    await until(async () => {
      const { rows } = await database.query(
        `select count(*)::int as sessions from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'sluice%'`,
      );
      return rows[0]?.['sessions'] === 0;
    });
  });

  it('with control takes a change from our own origin alone, and writes it down', async () => {
    const page = await serve(true);
    const path = `/api/queues/etl-run/${job}/promote`;
    for (const headers of [
      {},
      { origin: 'http://evil.example' },
      { origin: page.origin, 'sec-fetch-site': 'cross-site' },
    ])
      expect((await send(page, 'PUT', path, { ...headers, 'content-length': '0' })).status).toBe(403);
    const done = await send(page, 'PUT', path, { origin: page.origin });
    expect(done.status).toBeLessThan(300);
    expect(await queueState(place())).toMatchObject({ delayed: 0, waiting: 1 });
    const { rows } = await database.query('select action, kind, subject, detail from etl.audit');
    expect(rows).toEqual([
      {
        action: 'board',
        kind: 'queue',
        subject: `PUT /queues/etl-run/${job}/promote`,
        detail: expect.stringMatching(/^BullMQ's board answered 20\d$/),
      },
    ]);
  });
});

describe('a board with many queues', () => {
  const database = useDatabase();
  const { directory, write } = useFiles();
  const sessions = async (): Promise<unknown> => {
    const { rows } = await database.query(
      `select count(*)::int as sessions from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'sluice%'`,
    );
    return rows[0]?.['sessions'];
  };

  it('opens sixteen of them, and closes them when nobody has looked for a while', async () => {
    const place = { databaseUrl: database.url, redis: false } as const;
    const { pipeline } = await loadPipelineFile(write('pipelines/words.ts', wordsText));
    const at = new Date(Date.now() + 3_600_000);
    for (let n = 0; n < 18; n += 1) await enqueue(pipeline, { ...place, directory, queue: `q${n}`, at });
    const { address, backend } = await findSite(place);
    const bounds = { connectionsMax: 1, waitingMax: 10, statementMsMax: 10_000, idleMs: 10 };
    const pool = createReadPool({ address: () => Promise.resolve(address), ...bounds });
    const options = { base: '', isReadOnly: true, logger: silentLogger, read: pool.read, idleMs: 500 };
    const board = createBoard({ ...options, backend: () => backend });
    const app = new Hono().all('*', board.answer);
    for (let look = 0; look < 2; look += 1) {
      const answer = await app.request('/board/api/queues');
      expect(await answer.json()).toMatchObject({ queues: { length: 16 } });
      await until(async () => (await sessions()) === 0);
    }
    await board.close();
    await pool.close();
  });
});
