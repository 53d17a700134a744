// Lists that are longer than a page: their links lead to all of it, in both directions, with nothing twice.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPage, type EtlPage } from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
let page: EtlPage;

/** Three runs under way, some that ended at the same microsecond, and one with rejects of two kinds: the rare one comes last. */
const history = `
  insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch, started_at, finished_at)
    select case when n % 3 > 0 then 'often' else 'rare' end, case when n % 40 = 0 then 'loading' else 'published' end, '', '{}', 'host', 1, 1,
        gen_random_uuid(), '2026-01-01Z', case when n % 40 > 0 then timestamptz '2026-01-02Z' + n / 4 * interval '1.000001 seconds' end
      from generate_series(1, 130) n;
  insert into etl.source_file (run_id, table_name, ordinal, location, name, bytes, fingerprint, header, data_byte, data_line)
    values (1, 't', 0, '/f', 'f', 1, '', '{a}', 0, 1);
  insert into etl.reject (run_id, table_name, file_id, byte, line, record, column_name, code, reason, raw)
    select 1, 't', 1, n, n, n, 'a', case when n = 20400 then 'rare' else 'type' end, 'wrong', 'x' from generate_series(1, 20400) n`;

beforeAll(async () => {
  await withClient(addressFromUrl(database.url), async (client) => {
    await migrate(client);
    await client.query(history);
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
  expect(pages[1]).toContain('byte 20,400');
});
