// What a database holds after a run, in numbers that can be compared: published tables, ledger, leftovers.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ask } from './fault-database.ts';
import { withPg } from './own-server.ts';

/** Same rows, same outcome, whatever happened on the way. */
export interface Outcome {
  /** Of each published table: rows, and the sum of 32 bits of each row's checksum. */
  readonly tables: Readonly<Record<string, string>>;
  /** Rejected places, each as table, file, byte and code. */
  readonly rejects: readonly string[];
  /** The files are read as streams. */
  readonly isStream: boolean;
  /** Of all files: chunks, records, and how they divide. */
  readonly counts: {
    readonly chunks: number;
    readonly records: number;
    readonly copied: number;
    readonly rejected: number;
    readonly filtered: number;
  };
}

const tables = ['station', 'observation', 'daily'];

const checksum = async (url: string, table: string): Promise<string> => {
  const [row] = await ask<{ text: string }>(
    url,
    `select count(*) || ' rows, ' || sum(('x' || left(md5(t::text), 8))::bit(32)::bigint) as text from noaa.${table} t`,
  );
  return row!.text;
};

const countsThatCount = `
  select count(*)::int as chunks, sum(c.records)::float8 as records, sum(c.copied)::float8 as copied,
    sum(c.rejected)::float8 as rejected, sum(c.filtered)::float8 as filtered
  from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
  where r.id = (select max(run_id) from etl.published_table) and c.epoch = r.epoch`;

/** What the newest published run made. */
export const outcomeOf = async (url: string): Promise<Outcome> => {
  const sums: Record<string, string> = {};
  for (const table of tables) sums[table] = await checksum(url, table);
  const rejects = await ask<{ place: string }>(
    url,
    `select concat_ws(' ', r.table_name, f.name, r.byte, r.code) as place
      from etl.reject r join etl.source_file f on f.id = r.file_id
      where r.run_id = (select max(run_id) from etl.published_table) order by f.ordinal, r.byte, r.id`,
  );
  const [counts] = await ask<Outcome['counts']>(url, countsThatCount);
  const [files] = await ask<{ isStream: boolean }>(
    url,
    `select bool_or(decoding is not null) as "isStream" from etl.source_file
      where run_id = (select max(run_id) from etl.published_table)`,
  );
  return { tables: sums, rejects: rejects.map(({ place }) => place), counts: counts!, ...files! };
};

const jobs = `select 'job ' || id as what from etl_queue.job`;
const leftovers = `
  select 'staging table ' || relname as what from pg_class where relnamespace = 'etl_staging'::regnamespace and relkind = 'r'
  union all
  select 'schema ' || nspname from pg_namespace where nspname like 'etl\\_build\\_%'`;

/** True if any run has needed a queue. */
export const hasQueue = async (url: string): Promise<boolean> =>
  (await ask<{ there: boolean }>(url, `select to_regclass('etl_queue.job') is not null as there`))[0]!.there;

/** The database holds what an undisturbed run makes, once, and nothing that only the run needed. */
export const expectWhole = async (url: string, expected: Outcome): Promise<void> => {
  const { counts, tables: made, rejects } = await outcomeOf(url);
  // A stream is cut into chunks from where somebody began to read it: others after a kill than without one.
  const { chunks: _, ...wanted } = expected.counts;
  expect({ tables: made, rejects }).toEqual({ tables: expected.tables, rejects: expected.rejects });
  expect(counts).toMatchObject(expected.isStream ? wanted : expected.counts);
  expect(await ask(url, leftovers)).toEqual([]);
  if (await hasQueue(url)) expect(await ask(url, jobs)).toEqual([]);
};

const sessions = `
  select application_name || ': ' || query as what from pg_stat_activity
  where datname = current_database() and application_name like 'sluice%'`;

/** Waits until the server has noticed that every connection of ours is closed: it looks every two seconds. */
export const expectNoSessions = (url: string): Promise<void> =>
  withPg(url, async (client) => {
    const deadline = Date.now() + 20_000;
    const look = async () => (await client.query(sessions)).rows;
    // Without `expect.poll`, which tests that run at once cannot use.
    let left = await look();
    for (; left.length > 0 && Date.now() < deadline; left = await look()) await sleep(50);
    expect(left).toEqual([]);
  });

/** A chunk that is in staging. */
export interface ChunkRow {
  /** File, first byte and time of its commit. */
  readonly proof: string;
  readonly records: number;
}

/** Chunks of the newest run that count, in file order; none before there is a ledger. */
export const chunksOf = async (url: string): Promise<readonly ChunkRow[]> => {
  const [there] = await ask<{ there: boolean }>(url, `select to_regclass('etl.chunk') is not null as there`);
  if (!there!.there) return [];
  return ask<ChunkRow>(
    url,
    `select concat_ws(' ', f.name, c.byte_start, c.committed_at) as proof, c.records::float8 as records
      from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
      where r.id = (select max(id) from etl.run) and c.epoch = r.epoch
      order by f.ordinal, c.byte_start`,
  );
};

/** State of the newest run; undefined before there is one. */
export const stateOf = async (url: string): Promise<string | undefined> => {
  const [there] = await ask<{ there: boolean }>(url, `select to_regclass('etl.run') is not null as there`);
  if (!there!.there) return undefined;
  return (await ask<{ state: string }>(url, 'select state from etl.run order by id desc limit 1'))[0]?.state;
};

/** Object numbers of the published tables: another number is another publication. */
export const tableNumbers = async (url: string): Promise<readonly number[]> =>
  (
    await ask<{ oid: number }>(
      url,
      `select oid::int from pg_class where relnamespace = to_regnamespace('noaa') and relkind = 'r' order by relname`,
    )
  ).map(({ oid }) => oid);
