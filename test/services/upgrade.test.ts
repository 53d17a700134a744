// A bookkeeping of each earlier version, with runs in it, is brought to the newest: every row stays, and the next run begins.

import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { historySteps, type HistorySize } from '../../bench/long-history.ts';
import { listRuns } from '../../src/ledger/history/history.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient, type Client } from '../../src/db/client.ts';
import { column, csv, definePipeline, pruneRuns, runPipeline } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const migrations = 'src/db/bookkeeping/migrations';
const files = readdirSync(migrations).toSorted();

/** Hourly runs of a year, and of a day. */
const year: HistorySize = { runs: 8_760, chunks: 40_000, rejects: 10_000, largest: 1_000 };
const day: HistorySize = { runs: 24, chunks: 240, rejects: 24, largest: 10 };

const database = useDatabase();
const { directory, write } = useFiles();
afterEach(() => database.query('drop schema if exists etl, etl_staging, sales cascade'));

/** Makes the bookkeeping as the version with so many migrations did. */
const makeVersion = async (client: Client, version: number): Promise<void> => {
  await client.query(`create schema etl; create schema etl_staging; create table etl.migration (
    version integer primary key, file text not null, applied_at timestamptz not null default clock_timestamp())`);
  for (const [index, file] of files.slice(0, version).entries()) {
    await client.query(readFileSync(`${migrations}/${file}`, 'utf8'));
    await client.query('insert into etl.migration (version, file) values ($1, $2)', [index + 1, file]);
  }
};

/** A query for each table that hashes all rows, by the columns that the table has now. */
const rowHashes = async (client: Client): Promise<readonly string[]> => {
  const { rows } = await client.query<{ text: string }>(
    `select format('select %L as table, count(*)::int, md5(string_agg(md5(row(%s)::text), '''' order by md5(row(%2$s)::text))) from etl.%I',
        relname, string_agg(quote_ident(attname), ', '), relname) as text
      from pg_class c join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped
      where relnamespace = 'etl'::regnamespace and relkind = 'r' and relname not in ('migration', 'canary')
      group by relname order by relname`,
  );
  return rows.map(({ text }) => text);
};

const answers = async (client: Client, queries: readonly string[]): Promise<readonly unknown[]> => {
  const all = [];
  for (const query of queries) all.push((await client.query(query)).rows[0]);
  return all;
};

const versions = files.slice(1).map((_, index) => ({ version: index + 1, size: index === 0 ? year : day }));

it.each(versions)('version $version with $size.runs runs', async ({ version, size }) => {
  write('sales.csv', 'id\n1\n2\n');
  const kept = await withClient(addressFromUrl(database.url), async (client) => {
    await makeVersion(client, version);
    // Beside other suites, a vacuum of the whole database waits for the disk longer than all the rest.
    await client.query('set synchronous_commit = off');
    for (const { what, sql } of historySteps(size)) if (what !== 'vacuum') await client.query(sql);
    await client.query('analyze');
    const queries = await rowHashes(client);
    return { queries, rows: await answers(client, queries) };
  });

  const place = { databaseUrl: database.url, redis: false as const };
  const sales = definePipeline({
    name: 'sales',
    schema: 'sales',
    tables: { sale: { source: csv('sales.csv'), columns: { id: column.integer('id') } } },
  });
  // Deletes nothing, and brings the bookkeeping to the newest version.
  expect(await pruneRuns({ ...place, before: new Date(0) })).toMatchObject({ runs: 0 });
  await withClient(addressFromUrl(database.url), async (client) => {
    expect(await answers(client, kept.queries)).toEqual(kept.rows);
    const { rows } = await client.query('select max(version) as version from etl.migration');
    expect(rows).toEqual([{ version: files.length }]);
  });

  const run = await runPipeline(sales, { ...place, workingDirectory: directory, workers: 1 });
  expect(run).toMatchObject({ outcome: 'published', tables: [{ rows: 2 }] });
  const newest = await withClient(addressFromUrl(database.url), (client) => listRuns(client, { limit: 3 }));
  expect(newest.map(({ pipeline }) => pipeline)).toContain('sales');
});
