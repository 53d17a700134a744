// The morning after: failed pipelines come first, a failed run shows its error before everything else, times are the visitor's.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadPipelineFile, runPipeline, schedule } from '../../src/index.ts';
import { useBrowser } from '../helpers/browser.ts';
import { useFiles } from '../helpers/files.ts';
import { hostileText, usePage } from '../helpers/page-site.ts';
import { etlArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { useWorkers } from '../helpers/workers.ts';

const database = useDatabase();
const { directory, write } = useFiles();
const page = usePage(() => database.url, { control: true });
const open = useBrowser();
const workers = useWorkers(() => ({
  databaseUrl: database.url,
  redis: false,
  pipelines: `${directory}/none`,
  workers: 1,
}));

const place = () => ({ databaseUrl: database.url, redis: false }) as const;
const here = () => ({ ...place(), directory, workingDirectory: directory, workers: 1 });

/** `more`: further options of the pipeline. */
const define = (name: string, more = ''): string =>
  write(
    `pipelines/${name}.ts`,
    `import { column, csv, definePipeline, expect } from 'sluice';
    export default definePipeline({
      name: '${name}',
      schema: '${name}',
      ${more}
      tables: { t: {
        source: csv('${name}/*.csv'${name === 'held' ? ", { lastLine: 'complete' }" : ''}),
        columns: { id: column.integer('id') },
        publish: '${name === 'held' ? 'append' : 'replace'}',
        tests: [expect.between('id', 0, 100)],
      } },
    });`,
  );

/** Whether the run fails is shown by the page. */
const run = async (name: string): Promise<unknown> => {
  const { pipeline } = await loadPipelineFile(define(name));
  return runPipeline(pipeline, here()).catch(() => undefined);
};

/** In the order of the overview. */
const night = ['locked', 'killed', 'missing', 'checks', 'rejects', 'late', 'held', 'fine', 'repaired'];

beforeAll(async () => {
  for (const name of night) {
    write(`${name}/1.csv`, 'id\n1\n2\n');
    if (name !== 'killed') await run(name);
  }
  write('repaired/1.csv', 'number\n1\n');
  await run('repaired');
  write('repaired/1.csv', 'id\n7\n');
  await run('repaired');
  write('held/2.csv', 'number\n1\n');
  write('held/3.csv', 'id\n3\n');
  write('held/4.csv', 'id\n4');
  await run('held');
  const { pipeline } = await loadPipelineFile(define('late'));
  await schedule.set('nightly', pipeline, { ...here(), cron: '0 3 * * *' });
  await database.query(`update etl.schedule set next_slot = now() - interval '1 hour'`);
  write('rejects/1.csv', `id\n${hostileText.replaceAll('"', "'")}\n1\n`);
  await run('rejects');
  write('checks/1.csv', 'id\n1000\n');
  await run('checks');
  rmSync(`${directory}/missing`, { recursive: true });
  await run('missing');
  const file = define('killed', `hooks: { before: () => process.kill(process.pid, 'SIGKILL') },`);
  const child = spawn(process.execPath, etlArgs(['run', file]), {
    cwd: directory,
    env: { ...process.env, DATABASE_URL: database.url },
  });
  await once(child, 'exit');
  await database.query(`insert into etl.failure (pipeline, queue, host, pid, error_code, error)
    values ('locked', 'default', 'h', 1, 'ETL_RUN_LOCKED', 'is already being run'),
      (null, 'default', 'h', 1, 'ETL_PIPELINE_FILE', 'broken.ts cannot be loaded')`);
}, 120_000);

const get = async (path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${page().token}` };
  return (await (await fetch(page().origin + path, { headers })).text()).replaceAll('&amp;', '&');
};

/** Text of each row of the section with pipelines. */
const rowsOf = (text: string): string[] => {
  const [, section = ''] = /<section id="pipelines"[^>]*>([^]*?)<\/section>/.exec(text) ?? [];
  return section
    .split('<tr>')
    .slice(2)
    .map((row) => row.replaceAll(/<title>[^<]*<\/title>|<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '));
};
const namesOf = (text: string): string[] => rowsOf(text).map((row) => row.trim().split(' ')[0]!);

const runOf = async (pipeline: string): Promise<number> =>
  (await database.query('select max(id)::int as id from etl.run where pipeline = $1', [pipeline])).rows[0]![
    'id'
  ];

describe('the overview', () => {
  it('lists failed pipelines first, then late ones and those with files held back, with counts', async () => {
    const text = await get('/');
    expect(namesOf(text)).toEqual(night);
    expect(text).toContain('Next slot');
    const [choice = ''] = text.split('<section id="pipelines"');
    const counts = Array.from(choice.matchAll(/<\/span> (\d+ [a-z ]+)<\/span/g), ([, count]) => count);
    expect(counts).toEqual(['5 failed', '1 late', '1 with files held back', '2 fine']);
  });

  it('shows an attempt that failed before a run on the row, with code, reason and time, until a run follows', async () => {
    const text = await get('/');
    const [locked, killed, missing] = rowsOf(text);
    expect(missing).toMatch(
      /failed before a run .*newest run: published, run \d+ ETL_SOURCE_NOT_FOUND table t: no file matches .* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/,
    );
    expect(locked).toContain('ETL_RUN_LOCKED is already being run');
    expect(killed).toContain('loading, process gone');
    expect(rowsOf(text).at(-1)).not.toContain('failed');
    expect(text).toMatch(/<section id="failures"[^]*broken\.ts cannot be loaded/);
  });

  it('shows a run of another machine as failed while its process has no connection', async () => {
    await database.query(`update etl.run set host = 'elsewhere', session = 0 where pipeline = 'killed'`);
    expect(rowsOf(await get('/?name=KILLED'))).toEqual([expect.stringContaining('✕ loading, not connected')]);
    expect(await get(`/runs/${await runOf('killed')}`)).toContain('has no connection to this database');
    await database.query(`update etl.run set session = pg_backend_pid() where pipeline = 'killed'`);
    expect(rowsOf(await get('/?state=running'))).toEqual([expect.stringMatching(/killed ● loading run/)]);
    await database.query(`update etl.run set host = $1 where pipeline = 'killed'`, [hostname()]);
  });

  it('shows one state, and names that contain a text; nothing of an address is taken for markup', async () => {
    expect(namesOf(await get('/?state=failed'))).toEqual(night.slice(0, 5));
    expect(namesOf(await get('/?state=failed&name=ed'))).toEqual(['locked', 'killed']);
    expect(namesOf(await get('/?name=ed'))).toEqual(['locked', 'killed', 'repaired']);
    const none = await get(`/?state=failed&name=${encodeURIComponent(hostileText)}`);
    expect(none).toContain('No such pipeline.');
    expect(none).not.toContain('<script>alert');
  });

  it('escapes names of pipelines, which people may have written into the tables', async () => {
    await database.query('begin');
    const name = `Shop "A" <b>&</b> ' É`;
    await database.query(
      `insert into etl.failure (pipeline, queue, host, pid, error_code, error)
      values ($1, 'default', 'h', 1, 'ETL_<i>', '<u>why</u>')`.replace(
        '$1',
        `'${name.replaceAll("'", "''")}'`,
      ),
    );
    await database.query('commit');
    const visit = await open(page().address);
    await visit.go('/?name=Shop');
    const row = visit.page.locator('#pipelines tbody tr');
    expect(await row.innerText()).toMatch(/Shop "A" <b>&<\/b> ' É[^]*ETL_<i> <u>why<\/u>/);
    await row.locator('a.name').click();
    await visit.page.locator('#failures', { hasText: '<u>why</u>' }).waitFor();
    expect(visit.problems()).toEqual([]);
    await visit.close();
    await database.query(`delete from etl.failure where error_code = 'ETL_<i>'`);
  });

  it('keeps what is typed into the search while the list changes', async () => {
    const visit = await open(page().address);
    await visit.page.locator('input[name=name]').fill('che');
    await visit.page.locator('#link', { hasText: 'live' }).waitFor();
    await database.query(`insert into etl.failure (pipeline, queue, host, pid, error_code, error)
      values ('fine', 'default', 'h', 1, 'ETL_RUN_LOCKED', 'for a test')`);
    await visit.page.locator('#pipelines', { hasText: 'for a test' }).waitFor();
    expect(await visit.page.locator('input[name=name]').inputValue()).toBe('che');
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForURL('**/?name=che');
    expect(await visit.page.locator('#pipelines tbody tr').count()).toBe(1);
    await database.query(`delete from etl.failure where error = 'for a test'`);
    await visit.close();
  }, 60_000);
});

describe('a failed run', () => {
  it('shows error, hint, documentation and log before everything else', async () => {
    const text = await get(`/runs/${await runOf('checks')}`);
    const places = [
      'class="error"',
      'Correct the files or the SQL, or change the tests. <code>etl status',
      '/errors/ETL_TEST_FAILED',
      'id="log"',
      'id="facts"',
    ];
    const found = places.map((part) => text.indexOf(part));
    expect(found.every((at) => at > 0)).toBe(true);
    expect(text.indexOf('id="log"')).toBeLessThan(text.indexOf('id="facts"'));
    expect(text).toMatch(/started by process[^]*loaded all files[^]*failed ETL_TEST_FAILED[^]*id="facts"/);
    const documented = await get('/errors/ETL_TEST_FAILED');
    expect(documented).toContain('auto-retry: never');
    expect(await get('/errors/ETL_NONE')).toContain('there is no error ETL_NONE');
  });

  it('has a chart of its throughput only if it took two seconds', async () => {
    const id = await runOf('checks');
    const show = async (seconds: number): Promise<boolean> => {
      const text = "update etl.run set finished_at = started_at + $2 * interval '1 second' where id = $1";
      await database.query(text, [id, seconds]);
      return (await get(`/runs/${id}`)).includes('<section id="throughput"');
    };
    expect([await show(1.9), await show(2)]).toEqual([false, true]);
  });

  it('whose process was killed says so', async () =>
    expect(await get(`/runs/${await runOf('killed')}`)).toMatch(
      /class="error"[^]*it was killed[^]*id="facts"/,
    ));

  it('has buttons that copy the error as text and as JSON', async () => {
    const visit = await open(page().address, { permissions: ['clipboard-read', 'clipboard-write'] });
    await visit.go(`/runs/${await runOf('rejects')}`);
    const copied = () => visit.page.evaluate<string>('navigator.clipboard.readText()');
    await visit.tabTo('[data-copy]');
    await visit.page.keyboard.press('Enter');
    await visit.page.locator('#link', { hasText: 'copied' }).waitFor();
    expect(await copied()).toMatch(
      /^ETL_REJECT_LIMIT: table t: 1 of 2 records[^]*`etl rejects list \d+ --all`[^]*\nrun \d+ of rejects, started 20/,
    );
    await visit.page.getByRole('button', { name: 'Copy as JSON' }).click();
    await expect
      .poll(async () => JSON.parse(await copied()))
      .toMatchObject({
        code: 'ETL_REJECT_LIMIT',
        run: { pipeline: 'rejects', state: 'failed', records: 2 },
      });
    expect(visit.problems()).toEqual([]);
    await visit.close();
  });

  it('is reached by the keyboard from the overview, and what its error means from there', async () => {
    const visit = await open(page().address);
    const follow = async (href: string): Promise<void> => {
      await visit.tabTo(`main a[href="${href}"]`);
      await visit.page.keyboard.press('Enter');
      await visit.page.waitForURL(`**${href}`);
    };
    await follow('/?state=failed');
    await follow(`/runs/${await runOf('checks')}`);
    await follow('/errors/ETL_TEST_FAILED');
    expect(visit.problems()).toEqual([]);
    await visit.close();
  });

  it('without scripts has no such buttons', async () => {
    const visit = await open(page().address, { javaScriptEnabled: false });
    await visit.go(`/runs/${await runOf('rejects')}`);
    expect(await visit.page.locator('[data-copy]').first().isVisible()).toBe(false);
    await visit.close();
  });

  it.each(['light', 'dark'] as const)(
    'in a narrow window has its error on the first screen (%s)',
    async (look) => {
      const visit = await open(page().address, { viewport: { width: 360, height: 740 }, colorScheme: look });
      for (const path of ['/', '/?state=failed', `/runs/${await runOf('checks')}`]) {
        await visit.go(path);
        expect({ path, axe: await visit.axe(), overflow: await visit.overflow() }).toEqual({
          path,
          axe: [],
          overflow: 0,
        });
      }
      const error = await visit.page.locator('.error').boundingBox();
      expect(error!.y + error!.height).toBeLessThan(740);
      const [first, last] = [visit.page.locator('nav a').nth(1), visit.page.locator('nav a').last()];
      expect((await first.boundingBox())!.y).toBe((await last.boundingBox())!.y);
      await visit.close();
    },
  );
});

describe('times', () => {
  it('are those of the visitor, with UTC in a tooltip, and the age of newest data', async () => {
    const { rows } = await database.query(
      `select to_char(started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as utc,
        to_char(started_at at time zone 'Asia/Kolkata', 'YYYY-MM-DD HH24:MI:SS') as local from etl.run where id = $1`,
      [await runOf('fine')],
    );
    const { utc, local } = rows[0] as { utc: string; local: string };
    const path = `/runs/${await runOf('fine')}`;
    const visit = await open(page().address, { timezoneId: 'Asia/Kolkata' });
    await visit.go(path);
    const shown = visit.page.locator('#facts time').first();
    expect([await shown.innerText(), await shown.getAttribute('title')]).toEqual([local, `${utc} UTC`]);
    expect(await visit.page.locator('footer').innerText()).toContain('Times in Asia/');
    await visit.go('/?name=fine');
    expect(await visit.page.locator('#pipelines time').first().innerText()).toMatch(/^\d+ (s|min) ago/);
    await visit.close();
    const plain = await open(page().address, { javaScriptEnabled: false });
    await plain.go(path);
    expect(await plain.page.locator('#facts time').first().innerText()).toBe(`${utc} UTC`);
    expect(await plain.page.locator('footer').innerText()).toContain('Times in UTC');
    await plain.close();
  });
});

describe('files', () => {
  it('show rows, rejects, state and age: in production, held back, waiting', async () => {
    const text = await get('/files?pipeline=held&schema=held&table=t');
    const rows = text.split('<tr>').map((row) =>
      row
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
    const row = (file: string) => rows.find((one) => one.startsWith(`held/${file}`));
    const at = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
    expect(row('1.csv')).toMatch(new RegExp(`✓ in production ${at} 2 0 2 7 B \\d+$`));
    expect(row('2.csv')).toMatch(new RegExp(`! held back ETL_HEADER_MISSING ${at} –`));
    expect(row('4.csv')).toMatch(new RegExp(`○ waiting ETL_FILE_NOT_READY ${at} –`));
  });
});

describe('a retry', () => {
  const forms = ['before it is pressed', 'after it was pressed'];
  /** What the form says, and the page after it was sent. */
  const retry = async (): Promise<readonly string[]> => {
    const visit = await open(page().address, { javaScriptEnabled: false });
    await visit.go(`/runs/${await runOf('checks')}`);
    await visit.page.getByRole('link', { name: 'Retry' }).click();
    const before = await visit.page.locator('main').innerText();
    await visit.page.locator('main form button').click();
    await visit.page.waitForURL('**/actions/*');
    const after = await visit.page.locator('main').innerText();
    await visit.close();
    return [before, after];
  };

  it(`says ${forms.join(' and ')} that no worker is running`, async () => {
    for (const text of await retry()) expect(text).toContain('No worker is running');
  });

  it('says nothing of the kind while a worker runs', async () => {
    write('none/other.ts', `export { default } from '../pipelines/fine.ts';`);
    await workers.start();
    for (const text of await retry()) expect(text).not.toContain('No worker');
  });
});
