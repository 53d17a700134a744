// examples/service over real HTTP: a run is started, followed by two viewers, stopped, and the service ends on a signal.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { library, typeScriptArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { root } from '../unit/project/source-files.ts';

const main = fileURLToPath(new URL('../../examples/service/main.ts', import.meta.url));
const database = useDatabase();

interface Service {
  readonly child: ChildProcess;
  readonly url: string;
  /** Of sluice's own page, with its token. */
  readonly etl: string;
}
const startService = async (): Promise<Service> => {
  const child = spawn(process.execPath, typeScriptArgs(main, [], library), {
    cwd: root,
    env: { ...process.env, DATABASE_URL: database.url, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  return { child, url: await line(), etl: await line() };
};

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.child.kill('SIGKILL'));
// What a run has published, the next one finds unchanged.
beforeEach(() => database.query('drop schema if exists noaa cascade'));

interface Sent {
  readonly id: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Everything that an answer of server-sent events says until it ends. */
const readSent = async (answer: Response): Promise<Sent[]> => {
  const text = await answer.text();
  return text
    .trim()
    .split('\n\n')
    .map((block) => {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line)!.slice(1)),
      );
      return { id: Number(fields['id']), event: fields['event'], data: JSON.parse(fields['data'] || '{}') };
    });
};

const readEvents = async (path: string, headers: Record<string, string> = {}): Promise<Sent[]> =>
  readSent(await fetch(new URL(path, service.url), { headers }));

const post = async (name: string, { url } = service) => {
  const answer = await fetch(new URL(`/pipelines/${name}`, url), { method: 'POST' });
  return { status: answer.status, body: (await answer.json()) as { events?: string; error?: string } };
};

it('a run that is started over HTTP is published, and its viewers get all events, or those that they have not seen', async () => {
  const events = (await post('noaa')).body.events!;
  const sent = await readEvents(events);
  const kinds = sent.map(({ event }) => event);
  expect({ first: kinds.slice(0, 3), last: kinds.slice(-2) }).toEqual({
    first: ['step', 'started', 'planned'],
    last: ['finished', 'end'],
  });
  const { rows } = await database.query('select count(*)::int as n from noaa.observation');
  expect(rows).toEqual([{ n: 5276 }]);
  const seen = sent.at(-3)!.id;
  expect(await readEvents(events, { 'last-event-id': String(seen) })).toEqual(sent.slice(-2));
  const [one, other] = await Promise.all([readEvents(events), readEvents(events)]);
  expect(one).toEqual(sent);
  expect(other).toEqual(sent);
});

it('its own page shows the run to those who have its token', async () => {
  const { origin } = new URL(service.etl);
  const opened = await fetch(service.etl, { redirect: 'manual' });
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
  expect((await fetch(`${origin}/etl/runs/1`)).status).toBe(401);
  const shown = await (await fetch(`${origin}/etl/runs/1`, { headers: { cookie } })).text();
  expect(shown).toMatch(/Run 1 of noaa[^]*published/);
});

it('a pipeline that is not offered is not there', async () =>
  expect(await post('..%2F..%2Fetc%2Fpasswd')).toMatchObject({ status: 404 }));

it('the page offers the pipeline and follows its events', async () => {
  const page = await (await fetch(service.url)).text();
  expect(page).toMatch(/<button>noaa<\/button>[^]*new EventSource\(/);
});

it('of two runs of one pipeline the second is refused, and its viewer sees the code', async () => {
  const started = await Promise.all([post('noaa'), post('noaa')]);
  const ends = await Promise.all(started.map(async ({ body }) => (await readEvents(body.events!)).at(-2)!));
  expect(new Set(ends.map(({ event, data }) => data['code'] ?? event))).toEqual(
    new Set(['ETL_RUN_LOCKED', 'finished']),
  );
});

it('a run that is stopped says so', async () => {
  const { body } = await post('noaa');
  const stopped = await fetch(new URL(body.events!.replace('/events', ''), service.url), {
    method: 'DELETE',
  });
  const last = (await readEvents(body.events!)).at(-2)!;
  expect({ status: stopped.status, code: last.data['code'] }).toEqual({
    status: 204,
    code: 'ETL_INTERRUPTED',
  });
});

it('a signal ends its runs, with an event for their viewers, and then the service', async () => {
  const own = await startService();
  const { body } = await post('noaa', own);
  // Who connects after the signal is not let in any more.
  // A connection that is kept for another request would hold the server for five seconds.
  const viewing = await fetch(new URL(body.events!, own.url), { headers: { connection: 'close' } });
  const exited = once(own.child, 'exit');
  own.child.kill('SIGTERM');
  const last = (await readSent(viewing)).at(-2)!;
  expect({ exit: (await exited)[0], last: last.data['code'] ?? last.event }).toEqual({
    exit: 0,
    last: expect.stringMatching(/^(?:ETL_INTERRUPTED|finished)$/),
  });
});
