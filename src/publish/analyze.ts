// Analyzes partitioned tables as a whole. Autovacuum analyzes only their partitions.
//
// `analyze` blocks neither readers nor writers. Before PostgreSQL 18 it also analyzes all
// partitions, so its time is limited. Proved by test/modes/touched.test.ts, "is analyzed although
// somebody holds a partition".

import type { Client } from '../db/client.ts';
import { codeOf } from '../core/errors/errors.ts';
import { productionName, type TableNames } from '../db/names.ts';
import { copyStatistics } from './aside/staged-statistics.ts';

/** Longest `analyze`. The table itself takes seconds; its partitions may take longer. */
const analyzeMs = 30_000;

/** Longest wait for a session that alters or analyzes the table; the next run tries again. */
const lockMs = 2_000;

interface Stale {
  readonly name: string;
  readonly only: boolean;
  readonly before: string | null;
  readonly statementMs: string;
  readonly waitMs: string;
}

/**
 * Partitioned tables with enough changes to make autovacuum analyze an ordinary table.
 *
 * All rows of a partition count as changed if it was analyzed since the first run after the last
 * analyze of the whole table, or never. Of other partitions only the growth counts: the server
 * reports all rows that were created and analyzed in one transaction as changed. A table with
 * statistics that was never analyzed took them from staging.
 */
const selectStale = `
  select p.oid::regclass::text as name, current_setting('server_version_num')::int >= 180000 as only,
      s.last_analyze::text as before, current_setting('statement_timeout') as "statementMs", current_setting('lock_timeout') as "waitMs"
    from unnest($1::text[]) with ordinality as t (name, place)
      join pg_class p on p.oid = to_regclass(t.name) and p.relkind = 'p'
      left join pg_stat_user_tables s on s.relid = p.oid
      cross join lateral (
        select coalesce(greatest(s.last_analyze, s.last_autoanalyze), (
          select max(r.finished_at) from etl.published_table t join etl.run r on r.id = t.run_id
            where t.table_oid = p.oid and t.strategy = 'partitions' and t.partitions is null and exists (
              select from pg_stats i where (i.schemaname, i.tablename) = (s.schemaname, s.relname) and i.inherited)
        )) as at
      ) last
      cross join lateral (
        select min(started_at) as at from etl.run where finished_at > last.at and pipeline in (
          select r.pipeline from etl.published_table t join etl.run r on r.id = t.run_id where t.table_oid = p.oid)
      ) run
      cross join lateral (
        select coalesce(sum(n.rows), 0) as rows,
            greatest(coalesce(sum(n.rows) filter (where m.at is null or m.at >= run.at), 0), abs(coalesce(sum(n.rows), 0) - p.reltuples)) as changed
          from pg_inherits i join pg_class c on c.oid = i.inhrelid
            left join lateral (
              select n_live_tup, greatest(last_analyze, last_autoanalyze) as at
                from pg_stat_user_tables where relid = c.oid
            ) m on true
            cross join lateral (select greatest(c.reltuples, m.n_live_tup, 0) as rows) n
          where i.inhparent = p.oid
      ) parts
    where last.at is null or parts.changed > current_setting('autovacuum_analyze_threshold')::float8
      + current_setting('autovacuum_analyze_scale_factor')::float8 * parts.rows
    order by t.place`;

const isDone = async (client: Client, { name, before }: Stale): Promise<boolean> => {
  const { rows } = await client.query(
    'select last_analyze::text is distinct from $2 as done from pg_stat_user_tables where relid = to_regclass($1)',
    [name, before],
  );
  return rows[0]?.done === true;
};

const analyze = async (client: Client, stale: Stale): Promise<boolean> => {
  const { name, only, statementMs, waitMs } = stale;
  const limit = (statement: string | number, wait: string | number) =>
    client.query(
      `select set_config('statement_timeout', $1::text, false), set_config('lock_timeout', $2::text, false)`,
      [statement, wait],
    );
  await limit(analyzeMs, lockMs);
  try {
    await client.query(`analyze ${only ? 'only ' : ''}${name}`);
    return true;
  } catch (error) {
    if (!['57014', '55P03'].includes(codeOf(error) ?? '')) throw error;
    return await isDone(client, stale);
  } finally {
    await limit(statementMs, waitMs);
  }
};

/**
 * Copies statistics to production. `analyzedAs`: oid of the production table, or of the built
 * table. Returns false if there are none.
 */
export const takeWhole = async (client: Client, names: TableNames, analyzedAs: number): Promise<boolean> => {
  const name = productionName(names);
  const { rows } = await client.query(
    'select oid::regclass::text as aside, oid = to_regclass($2) as same from pg_class where oid = $1',
    [analyzedAs, name],
  );
  return rows.length > 0 && (rows[0].same || (await copyStatistics(client, rows[0].aside, name)));
};

/** Analyzes the tables (quoted names) that need it. Returns those that took too long. */
export const analyzePartitioned = async (
  client: Client,
  names: readonly string[],
): Promise<readonly string[]> => {
  if (names.length === 0) return [];
  const { rows } = await client.query<Stale>(selectStale, [names]);
  const left: string[] = [];
  for (const stale of rows) if (!(await analyze(client, stale))) left.push(stale.name);
  return left;
};
