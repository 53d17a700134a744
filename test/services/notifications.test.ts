// Notifications: what receivers get, and that no receiver holds or fails a run, whatever it does.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import {
  column,
  csv,
  definePipeline,
  env,
  loadPipelineFile,
  rollbackPipeline,
  runPipeline,
  schedule,
  slack,
  webhook,
  type Notification,
  type Pipeline,
  type RunEvent,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { etlArgs } from '../helpers/run-typescript.ts';
import { forgetRuns, useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, or so').toString('base64')}`;
const environment = { ...process.env };
const files = useFiles();
const database = useDatabase();

interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
let got: Got[] = [];
let answer: (response: ServerResponse, path: string) => void;
const ok = (response: ServerResponse): void => void response.end();
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      got.push({ path: request.url!, headers: request.headers, body: Buffer.concat(pieces).toString() });
      answer(response, request.url!);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  got = [];
  last = '';
  answer = ok;
  process.env['HOOK'] = `${url}/hook?token=private`;
  process.env['HOOK_SECRET'] = secret;
  process.env['CHAT'] = `${url}/chat`;
  await database.query(`drop schema if exists shop cascade; ${forgetRuns}`);
});

/** Nothing listens there. */
const closedPort = async (): Promise<string> => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  const { port } = other.address() as AddressInfo;
  await new Promise((resolve) => {
    other.close(resolve);
  });
  return `http://127.0.0.1:${port}/`;
};

const signed = webhook(env('HOOK'), { on: ['failed', 'published', 'rejects'], secret: env('HOOK_SECRET') });
const pipelineOf = (notify: Pipeline['notify'] = [signed], more: object = {}): Pipeline =>
  definePipeline({
    name: 'sales',
    schema: 'shop',
    tables: {
      sale: {
        source: csv('in/a.csv'),
        columns: { id: column.integer('id') },
        rejectLimit: 1,
        guard: false,
        keep: 1,
      },
    },
    notify: notify ?? [],
    ...more,
  });
let notices: string[] = [];
let last = '';
const options = () => ({
  databaseUrl: database.url,
  directory: files.directory,
  workingDirectory: files.directory,
  onEvent: (event: RunEvent) => event.type === 'notice' && notices.push(event.message),
});
const run = (rows: string, pipeline = pipelineOf(), onEvent?: (event: RunEvent) => unknown) => {
  notices = [];
  // The same file stays as it is: its time counts.
  if (rows !== last) files.write('in/a.csv', `id\n${rows}\n`);
  last = rows;
  return runPipeline(pipeline, {
    ...options(),
    workers: 1,
    ...(onEvent !== undefined && { onEvent: (event: RunEvent) => void onEvent(event) }),
  });
};
const startEtl = (...args: string[]): ChildProcess =>
  spawn(process.execPath, etlArgs([...args, '--database-url', database.url]), {
    cwd: files.directory,
    stdio: 'ignore',
  });
const etl = async (...args: string[]): Promise<string> => {
  const io = fakeIo({ env: { DATABASE_URL: database.url }, stdout: { columns: 160 } });
  expect([await main(['notifications', ...args], io), io.stderr.text]).toEqual([0, '']);
  return io.stdout.text;
};
const deliveries = async () =>
  (
    await database.query(
      `select event, run_id::int as run, url_name as to, state, attempts, problem from etl.notification order by id`,
    )
  ).rows;

it('are signed, say what happened, and are no part of the definition', async () => {
  await run('1\n2\nx');
  const read = got.map(({ body, headers }) => ({
    verified: new Webhook(secret).verify(body, headers as Record<string, string>) as Notification,
    id: headers['webhook-id'],
  }));
  const tables = [
    {
      table: 'sale',
      schema: 'shop',
      records: 3,
      copied: 2,
      rejected: 1,
      filtered: 0,
      rowsBefore: null,
      rows: 2,
    },
  ];
  const rejects = [{ table: 'sale', column: 'id', code: 'type', records: 1, file: 'in/a.csv', line: 4 }];
  const data = { pipeline: 'sales', run: 1, state: 'published', tables, rejects, error: null };
  expect(read.map(({ verified }) => verified).toSorted((a, b) => (a.type < b.type ? -1 : 1))).toEqual([
    expect.objectContaining({ version: 1, type: 'published', data: expect.objectContaining(data) }),
    expect.objectContaining({ version: 1, type: 'rejects', data: expect.objectContaining(data) }),
  ]);
  expect(new Set(read.map(({ id }) => id)).size).toBe(2);
  // Nothing happened, nothing is sent; receivers change no row.
  expect((await run('1\n2\nx', pipelineOf([slack(env('CHAT'), { on: ['published'] })]))).outcome).toBe(
    'unchanged',
  );
  expect(got.length).toBe(2);
  // What is stored and listed has the names of secrets, not their values.
  const stored = await database.query(`select string_agg(n::text, ' ') as all from etl.notification n`);
  expect(stored.rows[0]!['all']).not.toMatch(/private|whsec|127\.0\.0\.1/);
});

it('tell of failures with and without a run, of rollbacks, and chats in words', async () => {
  const both = pipelineOf([signed, slack(env('CHAT'), { on: ['failed', 'published'] })]);
  await run('1', both);
  await run('1\n2', both);
  await rollbackPipeline(both, options());
  expect((await failureOf(run('x\ny\nz', both))).code).toBe('ETL_REJECT_LIMIT');
  const wrong = definePipeline({
    name: 'absent',
    schema: 'shop',
    tables: { sale: { source: csv('nowhere.csv'), columns: { id: column.integer('id') } } },
    notify: [signed],
  });
  expect((await failureOf(runPipeline(wrong, options()))).code).toBe('ETL_SOURCE_NOT_FOUND');
  const told = got
    .filter(({ path }) => path.startsWith('/hook'))
    .map(({ body }) => JSON.parse(body) as Notification)
    .map(({ type, data }) => [type, data.pipeline, data.run, data.rolledBackTo, data.error?.code ?? null]);
  expect(
    told.toSorted((a, b) => Number(a[2] ?? 9) - Number(b[2] ?? 9) || (String(a[0]) < String(b[0]) ? -1 : 1)),
  ).toEqual([
    ['published', 'sales', 1, null, null],
    ['published', 'sales', 2, null, null],
    ['published', 'sales', 3, 1, null],
    ['failed', 'sales', 4, null, 'ETL_REJECT_LIMIT'],
    ['rejects', 'sales', 4, null, 'ETL_REJECT_LIMIT'],
    ['failed', 'absent', null, null, 'ETL_SOURCE_NOT_FOUND'],
  ]);
  const chat = got
    .filter(({ path }) => path === '/chat')
    .map(({ body }) => (JSON.parse(body) as { text: string }).text);
  expect(chat.map((text) => text.split('\n')[0])).toEqual([
    '*sales* was published (run 1)',
    '*sales* was published (run 2)',
    '*sales* was rolled back (run 3)',
    '*sales* failed (run 4)',
  ]);
});

it('change nothing of a run, whatever the receivers do', async () => {
  const held: ServerResponse[] = [];
  const order: string[] = [];
  const behaviours: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    twice: (response) => {
      const before = got.filter(({ path }) => path === '/twice').length;
      response.writeHead(before < 3 ? 500 : 204).end();
    },
    hangs: (response) => {
      held.push(response);
      order.push('a receiver hangs');
    },
    redirects: (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    refuses: (response) => response.writeHead(404).end(),
    busy: (response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
    cuts: (response) => response.destroy(),
    endless: (response) => {
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(65_536), () => setTimeout(more, 5));
      };
      more();
    },
  };
  answer = (response, path) => void behaviours[path.slice(1)]?.(response);
  process.env['ABSENT'] = await closedPort();
  for (const name of Object.keys(behaviours)) process.env[name] = `${url}/${name}`;
  const receivers = ['ABSENT', ...Object.keys(behaviours)].map((name) =>
    webhook(env(name), { on: ['published'] }),
  );
  const onEnd = (event: RunEvent): unknown => event.type === 'finished' && order.push('finished');
  const result = await run('1', pipelineOf(receivers), onEnd);
  expect([result.outcome, order]).toEqual(['published', ['finished', 'a receiver hangs']]);
  // The run is over, and the receiver has not answered yet.
  expect(held.map(({ headersSent }) => headersSent)).toEqual([false]);
  const found = await deliveries();
  expect(Object.fromEntries(found.map(({ to, state, problem }) => [to, `${state}: ${problem}`]))).toEqual({
    twice: 'delivered: null',
    endless: 'delivered: null',
    redirects: expect.stringMatching(/^given up: .* answered 302, and redirects are not followed$/),
    refuses: expect.stringMatching(/^given up: .* answered 404$/),
    busy: expect.stringMatching(/^pending: .* answered 429$/),
    hangs: expect.stringMatching(/^pending: .* did not answer within \d/),
    cuts: expect.stringMatching(/^pending: .*: the connection was cut/),
    ABSENT: expect.stringMatching(/^pending: .*: nothing listens there \(ECONNREFUSED\)$/),
  });
  const twice = got.filter(({ path }) => path === '/twice');
  expect(twice.length).toBe(3);
  expect(new Set(twice.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('are delivered by the next run when their process was killed after its commit', async () => {
  answer = () => undefined;
  files.write('in/a.csv', 'id\n1\n');
  files.write(
    'sales.ts',
    `import { column, csv, definePipeline, env, webhook } from 'sluice';
    export default definePipeline({ name: 'sales', schema: 'shop',
      tables: { sale: { source: csv('in/a.csv'), columns: { id: column.integer('id') } } },
      notify: [webhook(env('HOOK'), { on: ['published'], secret: env('HOOK_SECRET') })] });`,
  );
  const killed = startEtl('run', 'sales.ts');
  const gone = once(killed, 'exit');
  await until(() => got.length === 1);
  killed.kill('SIGKILL');
  await gone;
  // A receiver that is being told is left alone for a while.
  await database.query('update etl.notification set next_at = clock_timestamp()');
  answer = ok;
  const { pipeline, directory } = await loadPipelineFile(join(files.directory, 'sales.ts'));
  expect((await runPipeline(pipeline, { ...options(), directory })).outcome).toBe('unchanged');
  expect(got.map(({ headers }) => headers['webhook-id'])).toEqual(
    Array(2).fill(got[0]!.headers['webhook-id']),
  );
  expect(await deliveries()).toMatchObject([{ run: 1, state: 'delivered', attempts: 2 }]);
});

it('wait for a run or worker that has the variables', async () => {
  for (const name of ['HOOK', 'HOOK_SECRET']) delete process.env[name];
  await run('1');
  expect(notices.join()).toContain('HOOK, HOOK_SECRET are not set');
  expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: 0 }]);
  // A secret or a URL of another form is said without its value.
  process.env['HOOK'] = 'private';
  process.env['HOOK_SECRET'] = 'private!';
  await run('1\n2');
  expect((await deliveries()).map(({ problem }) => problem)).toEqual(
    Array(2).fill('the value of HOOK is not usable: it is not a URL'),
  );
  process.env['HOOK'] = url;
  await run('1\n2\n3');
  expect((await deliveries()).at(-1)!['problem']).toMatch(
    /^the value of HOOK_SECRET is not usable: it must be base64/,
  );
});

it('are kept while they wait, however many others came since', async () => {
  delete process.env['HOOK'];
  await run('1');
  await database.query(`select setval(pg_get_serial_sequence('etl.notification', 'id'), 20000)`);
  await run('1\n2');
  await run('1\n2\n3');
  expect((await deliveries()).map(({ run: id, state }) => [id, state])).toEqual([
    [1, 'pending'],
    [2, 'pending'],
    [3, 'pending'],
  ]);
});

it('are listed and sent again by `etl notifications`', async () => {
  expect(await etl()).toBe('no notifications\n');
  process.env['HOOK'] = await closedPort();
  await run('1');
  expect(await etl()).toMatch(
    /^at +event +pipeline +run +receiver +state +tries +problem\n.* published +sales +1 +webhook HOOK +pending, again .* 127\.0\.0\.1:\d+: nothing/,
  );
  delete process.env['HOOK_SECRET'];
  expect(await etl('send')).toBe(
    'Delivered 0 notifications; 1 pending, 0 given up; variables not set: HOOK_SECRET\n',
  );
  process.env['HOOK_SECRET'] = secret;
  process.env['HOOK'] = url;
  answer = (response) => response.writeHead(410).end();
  expect(await etl('send')).toBe('Delivered 0 notifications; 0 pending, 1 given up\n');
  expect(JSON.parse(await etl('list', '--state', 'given up', '--pipeline', 'sales', '--json'))).toMatchObject(
    [{ event: 'published', run: 1, receiver: 'HOOK', state: 'given up', nextAt: null }],
  );
  answer = ok;
  expect(await etl('send', '--given-up', '--json')).toBe(
    '{"delivered":1,"pending":0,"givenUp":0,"missing":[]}\n',
  );
  expect(got.length).toBe(2);
  expect(await etl('list', '--state', 'pending')).toBe('no notifications\n');
});

it('of a database that is not there are sent at once', async () => {
  const nowhere = { ...options(), databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
  expect((await failureOf(runPipeline(pipelineOf(), nowhere))).code).toBe('ETL_CONNECT');
  expect(got.map(({ body }) => (JSON.parse(body) as Notification).data.error?.code)).toEqual(['ETL_CONNECT']);
});

it('come from workers too, with what an absent receiver was owed, and of slots that are late', async () => {
  process.env['HOOK'] = await closedPort();
  await run('1');
  expect(await deliveries()).toMatchObject([
    { state: 'pending', problem: expect.stringContaining('ECONNREFUSED') },
  ]);
  process.env['HOOK'] = url;
  await schedule.set('nightly', pipelineOf(), {
    databaseUrl: database.url,
    directory: files.directory,
    cron: '0 0 1 1 *',
    lateAfterMs: 60_000,
  });
  await database.query(`insert into etl.schedule_slot (schedule, slot, outcome, job_state) values
    ('nightly', now() - interval '1 hour', 'enqueued', 'ETL_GUARD'), ('nightly', now() - interval '2 hours', 'enqueued', 'published'),
    ('nightly', now() - interval '10 seconds', 'enqueued', null)`);
  files.write(
    'pipelines/sales.ts',
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: 'sales', schema: 'shop', tables: { sale: { source: csv('in/a.csv'), columns: { id: column.integer('id') } } } });`,
  );
  await database.query('update etl.notification set next_at = now()');
  const worker = startEtl('worker', '--notify', 'HOOK');
  await until(() => got.length === 2);
  // And what comes due later.
  await database.query(`update etl.notification set state = 'pending', next_at = now() where event = 'late'`);
  await until(() => got.length === 3);
  worker.kill('SIGTERM');
  expect(await once(worker, 'exit')).toEqual([0, null]);
  const told = got.map(({ body }) => JSON.parse(body) as Notification);
  expect(told.map(({ type }) => type).toSorted()).toEqual(['late', 'late', 'published']);
  expect(told.find(({ type }) => type === 'late')!.data).toMatchObject({
    pipeline: 'sales',
    state: 'ETL_GUARD',
    schedule: { name: 'nightly', outcome: 'enqueued' },
  });
});

it('have a hook beside them: of failures, a function or SQL', async () => {
  const seen: unknown[] = [];
  const failed = pipelineOf([], {
    hooks: {
      failed: async ({ runId, error, tables, query }: never) => {
        seen.push(runId, (error as { code: string }).code, (tables as { rejected: number }[])[0]?.rejected);
        seen.push(await (query as (sql: string) => Promise<unknown>)('select 1 as one'));
      },
    },
  });
  expect((await failureOf(run('x\ny', failed))).code).toBe('ETL_REJECT_LIMIT');
  expect(seen).toEqual([1, 'ETL_REJECT_LIMIT', 2, [{ one: 1 }]]);
  files.write(
    'failed.sql',
    `create schema shop; create table shop.failure as select current_setting('etl.error_code') as code;`,
  );
  await failureOf(
    run('x\ny', pipelineOf([], { hooks: { failed: { kind: 'sqlFile', path: 'failed.sql' } } })),
  );
  expect((await database.query('select code from shop.failure')).rows).toEqual([
    { code: 'ETL_REJECT_LIMIT' },
  ]);
  // One that fails is reported, beside the run's own error.
  const broken = pipelineOf([], { hooks: { failed: () => Promise.reject(new Error('no pager')) } });
  expect((await failureOf(run('x\ny', broken))).code).toBe('ETL_REJECT_LIMIT');
  expect(notices.join()).toContain('hook failed failed: no pager');
});

it.each([
  ['a receiver of another kind', [{}], /must be webhook\(env\('NAME'\)\) or slack/],
  [
    'a URL in place of a variable',
    [webhook('https://example.com' as never)],
    /name of the environment variable/,
  ],
  [
    'an event that there is not',
    [webhook(env('HOOK'), { on: ['succeeded' as never] })],
    /must be one of .*, not 'succeeded'/,
  ],
  ['a secret that is not used', [slack(env('HOOK'), { secret: env('S') } as never)], /are not signed/],
])('are refused with %s', (_, notify, message) => {
  expect(() => pipelineOf(notify as never)).toThrow(message);
});
