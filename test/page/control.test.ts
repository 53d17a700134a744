// What visitors can do: by the keyboard and without scripts on real runs, and what strangers try instead.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadPipelineFile, schedule } from '../../src/index.ts';
import { useBrowser, type Visit } from '../helpers/browser.ts';
import { useFiles } from '../helpers/files.ts';
import { hostileText, usePage } from '../helpers/page-site.ts';
import { etlArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const database = useDatabase();
const { directory, write } = useFiles();
const folder = join(directory, 'pipelines');
const place = () => ({ databaseUrl: database.url, redis: false }) as const;
const open = useBrowser();
const page = usePage(() => database.url, { control: { pipelines: folder } });
const readOnly = usePage(() => database.url);
const mounted = usePage(() => database.url, {
  token: false,
  basePath: '/etl',
  control: {
    user: (request) => request.headers.get('x-user') ?? undefined,
    allow: async ({ user, action }) => user === 'ann' && action !== 'cancel',
  },
});
const workers = useWorkers(() => ({
  ...place(),
  pipelines: folder,
  workingDirectory: directory,
  workers: 1,
}));

/** A run waits before it loads while the first is there, and fails there while the second is. */
const hold = join(directory, 'hold');
const fail = join(directory, 'fail');

const wordsText = `
  import { existsSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: 'words',
    schema: 'words',
    tables: { word: { source: csv('words.csv'), columns: { n: column.integer('n') } } },
    hooks: {
      before: async () => {
        while (existsSync(${JSON.stringify(hold)})) await sleep(20);
        if (existsSync(${JSON.stringify(fail)})) throw new Error('not today');
      },
    },
  });`;

beforeAll(async () => {
  write('pipelines/words.ts', wordsText);
  write('words.csv', 'n\n1\n2\n');
  const { pipeline } = await loadPipelineFile(join(folder, 'words.ts'));
  await schedule.set('nightly', pipeline, { ...place(), directory: folder, cron: '0 3 * * *' });
});

const stateOf = async (run: number): Promise<unknown> =>
  (await database.query('select state from etl.run where id = $1', [run])).rows[0]?.['state'];

const audit = async (): Promise<readonly Record<string, unknown>[]> =>
  (
    await database.query(
      'select action, kind, subject, person, address, error_code as error, ended_at is not null as ended from etl.audit order by id',
    )
  ).rows;

describe('by the keyboard, without scripts', () => {
  /** Goes from a page to a form by its link, sends it, and gives what the page says then. */
  const ask = async ({ page: tab, tabTo, go }: Visit, from: string, path: string): Promise<string> => {
    await go(from);
    await tabTo(`a[href="${path}"]`);
    await tab.keyboard.press('Enter');
    await tab.waitForURL(`**${path}`);
    await tabTo('main form button');
    await tab.keyboard.press('Enter');
    await tab.waitForURL('**/actions/*');
    return tab.locator('main').innerText();
  };

  it('a pipeline is run, cancelled, tried again, fails and is tried again; a schedule is paused, resumed and run', async () => {
    await workers.start();
    const visit = await open(page().address, { javaScriptEnabled: false });
    writeFileSync(hold, '');
    expect(await ask(visit, '/actions', '/pipelines/words/run')).toContain('Enqueued as run-');
    expect(await ask(visit, '/actions', '/pipelines/words/run')).toContain('Nothing was enqueued');
    await until(async () => (await stateOf(1)) === 'loading');
    expect(await ask(visit, '/runs/1', '/runs/1/cancel')).toContain('Cancelled; its processes stop');
    expect(await stateOf(1)).toBe('cancelled');
    rmSync(hold);
    await until(() => workers.lines.some(({ code }) => code === 'ETL_RUN_CANCELLED'));
    expect(await database.query(`select to_regclass('words.word') as published`)).toMatchObject({
      rows: [{ published: null }],
    });
    writeFileSync(fail, '');
    expect(await ask(visit, '/runs/1', '/runs/1/retry')).toContain('Enqueued as run-');
    await until(async () => (await stateOf(1)) === 'failed');
    rmSync(fail);
    expect(await ask(visit, '/runs/1', '/runs/1/retry')).toContain('Enqueued as run-');
    await until(async () => (await stateOf(1)) === 'published');

    expect(await ask(visit, '/schedules', '/schedules/nightly/pause')).toContain('Paused');
    expect(await schedule.list(place())).toMatchObject([{ paused: true }]);
    expect(await ask(visit, '/schedules/nightly', '/schedules/nightly/resume')).toContain('Resumed');
    expect(await schedule.list(place())).toMatchObject([{ paused: false }]);
    expect(await ask(visit, '/schedules/nightly', '/schedules/nightly/run')).toContain('Enqueued as sched');
    await until(async () => (await schedule.list(place()))[0]?.jobState === 'unchanged');
    expect(visit.problems()).toEqual([]);
    await visit.close();
    const done = { person: null, address: '127.0.0.1', error: null, ended: true };
    expect(await audit()).toEqual([
      { ...done, action: 'run', kind: 'pipeline', subject: 'words' },
      { ...done, action: 'run', kind: 'pipeline', subject: 'words' },
      { ...done, action: 'cancel', kind: 'run', subject: '1' },
      { ...done, action: 'retry', kind: 'run', subject: '1' },
      { ...done, action: 'retry', kind: 'run', subject: '1' },
      { ...done, action: 'pause', kind: 'schedule', subject: 'nightly' },
      { ...done, action: 'resume', kind: 'schedule', subject: 'nightly' },
      { ...done, action: 'run', kind: 'schedule', subject: 'nightly' },
    ]);
  });
});

describe('with scripts', () => {
  it('what somebody else did appears by itself, and what cannot be done is said with its code', async () => {
    await database.query(`insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers)
      values (gen_random_uuid(), '{}', 'words', 'loading', repeat('0', 64), 'elsewhere', 1, 1)`);
    const { rows } = await database.query('select max(id)::int as id from etl.run');
    const run = rows[0]?.['id'];
    const viewer = await open(page().address);
    await viewer.go(`/runs/${run}`);
    const visit = await open(page().address);
    for (const path of [`/runs/${run}`, `/runs/${run}/cancel`]) {
      await visit.go(path);
      expect(await visit.axe()).toEqual([]);
    }
    const form = await visit.page.context().newPage();
    await form.goto(visit.page.url());
    await visit.shoot('form');
    await visit.page.locator('main form button').click();
    await visit.page.waitForURL('**/actions/*');
    expect(await visit.axe()).toEqual([]);
    await visit.shoot('action-done');
    await viewer.page.locator(`a[href="/runs/${run}/retry"]`).waitFor();
    await viewer.page.locator('#actions', { hasText: 'Cancelled; its processes stop' }).waitFor();
    await viewer.shoot('run-control');
    expect([...visit.problems(), ...viewer.problems()]).toEqual([]);
    // The other window still has the form.
    await form.locator('main form button').click();
    await form.locator('.error').waitFor();
    const told = await form.locator('main').innerText();
    expect(told).toContain('ETL_RUN_OVER');
    expect(told).toContain(`run ${run} is cancelled: there is nothing to cancel`);
    expect((await audit()).at(-1)).toMatchObject({ action: 'cancel', error: 'ETL_RUN_OVER', ended: true });
    for (const [path, look, width] of [
      ['/actions', 'light', 360],
      ['/actions', 'dark', 1280],
      ['/schedules', 'light', 360],
      ['/schedules/nightly/run', 'dark', 1280],
    ] as const) {
      await visit.page.emulateMedia({ colorScheme: look });
      await visit.page.setViewportSize({ width, height: 800 });
      await visit.go(path);
      expect(await visit.axe()).toEqual([]);
      expect(await visit.overflow()).toBe(0);
      await visit.shoot(`control${path.replaceAll('/', '-')}-${look}-${width}`);
    }
    await viewer.close();
    await visit.close();
  });
});

describe('`etl ui`', () => {
  const etl = (...args: string[]) =>
    spawn(process.execPath, etlArgs(['ui', ...args]), {
      cwd: directory,
      env: { ...process.env, DATABASE_URL: database.url },
    });

  it('--control prints an address under which pipelines of the folder can be run, until it is stopped', async () => {
    const child = etl('--control', '--host', '0.0.0.0');
    const [address] = (await once(createInterface(child.stdout), 'line')) as [string];
    const visit = await open(address);
    await visit.go('/actions');
    expect(await visit.page.locator('body').innerText()).toMatch(/control[^]*words[^]*Run now/);
    await visit.close();
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });

  it('that is killed during an action leaves a record of it without an outcome', async () => {
    const child = etl('--control');
    const [address] = (await once(createInterface(child.stdout), 'line')) as [string];
    const visit = await open(address);
    await visit.go('/schedules/nightly/resume');
    await database.query('begin; select from etl.schedule for update');
    const sent = visit.page.locator('main form button').click({ noWaitAfter: true });
    await until(async () => (await audit()).at(-1)?.['ended'] === false);
    child.kill('SIGKILL');
    await Promise.all([once(child, 'exit'), sent]);
    await database.query('commit');
    await visit.close();
    expect((await audit()).at(-1)).toMatchObject({
      action: 'resume',
      subject: 'nightly',
      ended: false,
      error: null,
    });
    const shown = await fetch(`${page().origin}/actions`, {
      headers: { authorization: `Bearer ${page().token}` },
    });
    expect(await shown.text()).toContain('under way, or its process has ended');
  });

  it.each([
    [['--control', '--read-only'], 'contradict'],
    [['--control', '--pipelines', 'nowhere'], 'ETL_PIPELINE_FOLDER'],
  ])('%j is refused at once', async (args, says) => {
    const child = etl(...args);
    const [said, [exit]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ said, exit }).toEqual({ said: expect.stringContaining(says), exit: 2 });
  });
});

describe('a stranger', () => {
  const post = (served: typeof page, path: string, key: string, headers: Record<string, string>) =>
    fetch(served().origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ key }).toString(),
    });
  const known = (served = page) => ({ authorization: `Bearer ${served().token}` });
  const keyAt = async (path: string, headers: Record<string, string>, served = page): Promise<string> => {
    const form = await (await fetch(served().origin + path, { headers })).text();
    return /name="key" value="([^"]+)"/.exec(form)?.[1] ?? '';
  };
  const sessionOf = async (): Promise<{ cookie: string }> => {
    const { headers } = await fetch(page().address, { redirect: 'manual' });
    return { cookie: headers.get('set-cookie')!.split(';')[0]! };
  };
  const path = '/schedules/nightly/pause';
  const isPaused = async (): Promise<boolean> => (await schedule.list(place()))[0]!.paused;

  it.each<{
    name: string;
    given: () => Promise<{ key: string; headers: Record<string, string> }>;
    says: string;
  }>([
    {
      name: 'without the token',
      given: async () => ({ key: await keyAt(path, known()), headers: { origin: page().origin } }),
      says: 'needs a token',
    },
    {
      name: 'of another origin',
      given: async () => ({
        key: await keyAt(path, known()),
        headers: { ...known(), origin: 'http://evil.example' },
      }),
      says: 'it comes from http://evil.example',
    },
    {
      name: 'of no origin',
      given: async () => ({ key: await keyAt(path, known()), headers: known() }),
      says: 'did not send the header Origin',
    },
    {
      name: 'whose browser says that it comes from another site',
      given: async () => ({
        key: await keyAt(path, known()),
        headers: { ...known(), origin: page().origin, 'sec-fetch-site': 'cross-site' },
      }),
      says: 'from another site (Sec-Fetch-Site: cross-site)',
    },
    {
      name: 'with a key of her own',
      given: async () => ({
        key: '00000000-0000-4000-8000-000000000000.9999999999999.x',
        headers: { ...known(), origin: page().origin },
      }),
      says: 'its key is invalid',
    },
    {
      name: 'with the key of another session',
      given: async () => ({
        key: await keyAt(path, await sessionOf()),
        headers: { ...(await sessionOf()), origin: page().origin },
      }),
      says: 'its key is invalid',
    },
    {
      name: 'with the key of another action',
      given: async () => ({
        key: await keyAt('/schedules/nightly/run', known()),
        headers: { ...known(), origin: page().origin },
      }),
      says: 'its key is invalid',
    },
    {
      name: 'with a body that is not a form',
      given: async () => ({
        key: await keyAt(path, known()),
        headers: { ...known(), origin: page().origin, 'content-type': 'text/plain' },
      }),
      says: 'it is not a form of this page',
    },
  ])('$name changes nothing', async ({ given, says }) => {
    const before = (await audit()).length;
    const { key, headers } = await given();
    expect(key).not.toBe('');
    const answer = await post(page, path, key, headers);
    expect([401, 403]).toContain(answer.status);
    expect(await answer.text()).toContain(says);
    expect({ paused: await isPaused(), audit: (await audit()).length }).toEqual({
      paused: false,
      audit: before,
    });
  });

  it('who sends a form again is refused, and it is done once', async () => {
    const headers = { ...known(), origin: page().origin };
    const resume = '/schedules/nightly/resume';
    const key = await keyAt(resume, known());
    expect((await post(page, resume, key, headers)).status).toBe(303);
    const before = (await audit()).length;
    const again = await post(page, resume, key, headers);
    expect({ status: again.status, text: await again.text() }).toEqual({
      status: 403,
      text: expect.stringContaining('it was sent before'),
    });
    expect((await audit()).length).toBe(before);
  });

  it('who sends many forms at once keeps three at work, and the others are refused', async () => {
    const headers = { ...known(), origin: page().origin };
    const resume = '/schedules/nightly/resume';
    const keys = await Promise.all(Array.from({ length: 8 }, () => keyAt(resume, known())));
    await database.query('begin; lock table etl.audit in exclusive mode');
    const statuses: number[] = [];
    const sent = keys.map(async (key) => statuses.push((await post(page, resume, key, headers)).status));
    await until(() => statuses.length === 5);
    expect(statuses).toEqual([503, 503, 503, 503, 503]);
    await database.query('commit');
    await Promise.all(sent);
    expect(statuses.slice(5)).toEqual([303, 303, 303]);
  });

  it('who sends many forms one after the other leaves the newest 10,000 actions, not more', async () => {
    await database.query(`insert into etl.audit (form, action, kind, subject, visitor)
      select gen_random_uuid(), 'pause', 'schedule', 'other', 'x' from generate_series(1, 10050)`);
    const resume = '/schedules/nightly/resume';
    const headers = { ...known(), origin: page().origin };
    expect((await post(page, resume, await keyAt(resume, known()), headers)).status).toBe(303);
    const { rows } = await database.query(
      `select count(*)::int as kept, max(id) - min(id) < 10001 as newest from etl.audit`,
    );
    expect(rows).toEqual([{ kept: expect.any(Number), newest: true }]);
    expect(rows[0]?.['kept']).toBeLessThanOrEqual(10_001);
  });

  it('who sends more than a form, or by another method, is refused before it is read', async () => {
    const headers = { ...known(), origin: page().origin };
    const key = await keyAt(path, known());
    const statuses = [(await post(page, path, key + 'x'.repeat(16 * 1024), headers)).status];
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      statuses.push((await fetch(page().origin + path, { method, headers, body: `key=${key}` })).status);
    expect({ statuses, paused: await isPaused() }).toEqual({ statuses: [413, 405, 405, 405], paused: false });
  });

  it('who only gets the address of an action is shown a form', async () => {
    const answer = await fetch(page().origin + path, { headers: known() });
    expect({ status: answer.status, paused: await isPaused() }).toEqual({ status: 200, paused: false });
  });

  it('does nothing where the page only reads', async () => {
    const headers = { ...known(readOnly), origin: readOnly().origin };
    const shown = await fetch(readOnly().origin + path, { headers });
    const answer = await post(readOnly, path, await keyAt(path, known()), headers);
    expect([shown.status, answer.status, await isPaused()]).toEqual([404, 403, false]);
    expect(await answer.text()).toContain('ETL_PAGE_READ_ONLY');
  });

  it.each([
    ['/pipelines/nothing/run', 404],
    ['/pipelines/..%2f..%2fwords/run', 404],
    ['/pipelines/__proto__/run', 404],
    ['/schedules/nothing/pause', 404],
    [`/schedules/${encodeURIComponent("x'; drop table etl.run; --")}/pause`, 404],
    [`/schedules/${encodeURIComponent(hostileText)}/pause`, 404],
    ['/runs/99999/cancel', 404],
    ['/runs/first/cancel', 404],
    ['/runs/1%20or%201=1/cancel', 404],
    ['/runs/1/publish', 404],
  ])('%s is answered with %s, as a form and when it is sent', async (wrong, status) => {
    const headers = { ...known(), origin: page().origin };
    const shown = await fetch(page().origin + wrong, { headers });
    const sent = await post(page, wrong, await keyAt(path, known()), headers);
    expect(shown.status).toBe(status);
    expect([403, 404]).toContain(sent.status);
    expect((await shown.text()) + (await sent.text())).not.toContain('<script>alert');
  });

  it('under a host that says who is who, does only what that one may', async () => {
    const at = `/etl${path}`;
    const shown = await fetch(mounted().origin + at);
    const cookie = shown.headers.get('set-cookie')!.split(';')[0]!;
    const send = async (to: string, user: string) => {
      const key = await keyAt(to, { cookie }, mounted);
      return post(mounted, to, key, { cookie, origin: mounted().origin, 'x-user': user });
    };
    const refused = await send(at, hostileText.slice(0, 20));
    const cancel = await send('/etl/runs/1/cancel', 'ann');
    expect([refused.status, cancel.status]).toEqual([403, 403]);
    expect(await cancel.text()).toContain('ann may not cancel run 1');
    const done = await send('/etl/schedules/nightly/pause', 'ann');
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\/etl\/actions\/\d+$/),
    ]);
    expect(await isPaused()).toBe(true);
    expect((await audit()).slice(-3)).toMatchObject([
      { person: hostileText.slice(0, 20), error: 'ETL_PAGE_FORBIDDEN' },
      { person: 'ann', action: 'cancel', error: 'ETL_PAGE_FORBIDDEN' },
      { person: 'ann', action: 'pause', error: null },
    ]);
    const list = await (await fetch(`${mounted().origin}/etl/actions`)).text();
    expect(list).not.toContain('<script>');
    expect(existsSync(hold)).toBe(false);
  });
});
