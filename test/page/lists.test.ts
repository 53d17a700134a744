// Lists that are longer than a page: their links lead to all of it, in both directions, with nothing twice.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPage, type EtlPage } from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { plainDialect } from '../../src/tools/init/delimiter.ts';
import { withPg } from '../helpers/own-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';

const database = useDatabase();
const other = useDatabase();
let page: EtlPage;

/** Three runs under way, some that ended at the same microsecond, and one with rejects of two kinds: the rare one is the first that is not near. And
 * 250 files of one name, a slot of three days ago, and a pipeline that only failed. */
const history = `
  insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch, started_at, finished_at)
    select case when n % 3 > 0 then 'often' else 'rare' end, case when n % 40 = 0 then 'loading' else 'published' end, '', '{}', 'host', 1, 1,
        gen_random_uuid(), '2026-01-01Z', case when n % 40 > 0 then timestamptz '2026-01-02Z' + n / 4 * interval '1.000001 seconds' end
      from generate_series(1, 130) n;
  insert into etl.source_file (run_id, table_name, ordinal, location, name, bytes, fingerprint, header, data_byte, data_line)
    values (1, 't', 0, '/f', 'f', 1, '', '{a}', 0, 1);
  insert into etl.reject (run_id, table_name, file_id, byte, line, record, column_name, code, reason, raw)
    select 1, 't', 1, n, n, n, 'a', case when n = 20001 then 'rare' else 'type' end, 'wrong', 'x' from generate_series(1, 20400) n;
  insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch, finished_at, error_code, error)
    values ('failing', 'failed', '', '{}', 'host', 1, 1, gen_random_uuid(), now(), 'ETL_GUARD', 'too few rows');
  insert into etl.published_file (pipeline, schema_name, table_name, file_key, file_id, run_id, source, location, name, fingerprint,
      bytes, records, rows, corrections, seen_at)
    select 'often', 's', 't', int4send(n), n, n, 'local', n::text, 'same.csv', '', 1, 1, 1, 0, now() from generate_series(1, 250) n;
  insert into etl.schedule (name, pipeline, definition_hash, cron, time_zone, next_slot, catch_up)
    values ('nightly', 'often', '', '0 2 * * *', 'UTC', now(), false);
  insert into etl.schedule_slot (schedule, slot, outcome) values ('nightly', now() - interval '3 days', 'missed')`;

beforeAll(async () => {
  await withClient(addressFromUrl(database.url), async (client) => {
    await migrate(client);
    await client.query(history);
    const formats = { t: { columns: { a: ['a'] }, dialects: [plainDialect] } };
    await client.query('update etl.run set formats = $1 where id = 1', [JSON.stringify(formats)]);
  });
  page = createPage({ databaseUrl: database.url, redis: false, token: false });
});
afterAll(() => page.close());

const textOf = async (path: string): Promise<string> => {
  const answer = await page.fetch(new Request(`http://localhost${path}`));
  expect(answer.status).toBe(200);
  return (await answer.text()).replaceAll('&amp;', '&');
};
const linkOf = (text: string, rel: string): string | undefined =>
  new RegExp(`href="([^"]+)"\\s+rel="${rel}"`).exec(text)?.[1];
const runsOf = (text: string): number[] =>
  Array.from(text.matchAll(/href="\/runs\/(\d+)"/g), ([, id]) => Number(id));

/** The pages that links lead to, one after the other. */
const follow = async (start: string, rel: string): Promise<readonly string[]> => {
  const texts: string[] = [];
  for (let path: string | undefined = start; path !== undefined; path = linkOf(texts.at(-1)!, rel))
    texts.push(await textOf(path));
  return texts;
};

it.each([
  ['/runs', 'true'],
  ['/runs?pipeline=often', `pipeline = 'often'`],
  ['/runs?state=published', `state = 'published'`],
])('%s leads to older runs and back', async (path, wanted) => {
  const { rows } = await database.query(
    `select id::int from etl.run where ${wanted} order by finished_at desc nulls first, id desc`,
  );
  const all = rows.map(({ id }) => id);
  const pages = (await follow(path, 'next')).map(runsOf);
  expect(pages.flat()).toEqual(all);
  const [last = ''] = (await follow(path, 'next')).slice(-1);
  const back = (await follow(linkOf(last, 'prev') ?? '', 'prev')).map(runsOf);
  expect(back.toReversed().flat()).toEqual(all.slice(0, -pages.at(-1)!.length));
});

it('a place among the runs that nobody was shown is no place', async () => {
  for (const place of ['x', '1.', '99999999999999999.1', "1';drop table etl.run;--.1"])
    expect(runsOf(await textOf(`/runs?older=${encodeURIComponent(place)}`))).toHaveLength(50);
});

it('of rejects of a rare kind the page says that none is near, and leads on to them', async () => {
  const pages = await follow('/rejects?run=1&code=rare', 'next');
  expect(pages[0]).toContain('None of the next rejects is of this kind.');
  expect(pages[0]).toContain('look further');
  expect(pages.length).toBe(2);
  expect(pages[1]).toContain('byte 20,001');
});

it('files of one name are listed once each, page by page', async () => {
  const pages = await follow('/files?pipeline=often&schema=s&table=t', 'next');
  const runs = pages.map((text) => Array.from(text.matchAll(/>same\.csv</g)).length);
  expect(runs).toEqual([100, 100, 50]);
});

it('a pipeline of which no run was published is called so', async () => {
  expect(await textOf('/')).toContain('never published');
});

it('the calendar shows slots of earlier days', async () => {
  const [days = ''] = (await textOf('/schedules')).split('class="legend"');
  expect(days).toContain('missed');
});

it('processes of another database are not shown', async () => {
  const session = (url: string, tag: string) => `${url}?application_name=sluice%20worker%20${tag}`;
  await withPg(session(database.url, '01234567'), () =>
    withPg(session(other.url, '89abcdef'), async () => {
      const text = await textOf('/queue');
      expect(text).toContain('01234567');
      expect(text).not.toContain('89abcdef');
    }),
  );
});

it('a connection that is lost costs one answer at most', async () => {
  await textOf('/runs');
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'sluice' and pid <> pg_backend_pid()`);
  await page.fetch(new Request('http://localhost/runs'));
  expect(runsOf(await textOf('/runs'))).toHaveLength(50);
});

// Sooner than an idle connection is closed anyway.
it('a page that is closed has no connection left', { timeout: 15_000 }, async () => {
  const own = createPage({ databaseUrl: database.url, redis: false, token: false });
  const sessions = async (): Promise<unknown> =>
    (
      await database.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'sluice'`,
      )
    ).rows[0]?.['n'];
  const before = await sessions();
  await own.fetch(new Request('http://localhost/runs'));
  expect(await sessions()).toBe(Number(before) + 1);
  await own.close();
  await until(async () => (await sessions()) === before);
});
