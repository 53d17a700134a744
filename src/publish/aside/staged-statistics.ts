// Copies statistics from a staging table to the table built from it. Both have the same rows in the
// same order. For a partitioned table the order does not matter, because no index scan covers it.

import type { Client } from '../../db/client.ts';
import { runQuery } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { builtName, type TableNames } from '../../db/names.ts';

export interface StagedStatistics {
  readonly staging: string;
  /** Starts gathering the statistics, if that was not planned from the start. */
  readonly begin: () => void;
  readonly gathered: () => Promise<boolean>;
}

/** Functions that need PostgreSQL 18. Managed servers may forbid them. */
const functions = ['attribute', 'relation'].map((of) => `pg_catalog.pg_restore_${of}_stats("any")`);

export const mayRestoreStatistics = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query(
    `select bool_and(coalesce(has_function_privilege(to_regprocedure(name), 'execute'), false)) as may
      from unnest($1::text[]) name`,
    [functions],
  );
  return rows[0].may;
};

/** SQL: true if `analyze` of the built table would find the same statistics. */
const selectLikeness = (staging: string, built: string): Query => ({
  text: `
    select not exists (
        select from pg_attribute b left join pg_attribute s on s.attrelid = to_regclass($1) and s.attname = b.attname
            and s.atttypid = b.atttypid and s.atttypmod = b.atttypmod and s.attcollation = b.attcollation
          where b.attrelid = to_regclass($2) and b.attnum > 0 and not b.attisdropped
            and (s.attname is null or b.attstattarget >= 0 or b.attoptions is not null))
      and not exists (select from pg_index where indrelid = to_regclass($2) and indexprs is not null)
      and not exists (select from pg_statistic_ext where stxrelid = to_regclass($2)) as alike`,
  values: [staging, built],
});

const isAlike = async (client: Client, staging: string, built: string): Promise<boolean> =>
  (await runQuery(client, selectLikeness(staging, built))).rows[0].alike;

const parts: Readonly<Record<string, string>> = {
  null_frac: 'real',
  avg_width: 'integer',
  n_distinct: 'real',
  most_common_vals: 'text',
  most_common_freqs: 'real[]',
  histogram_bounds: 'text',
  correlation: 'real',
  most_common_elems: 'text',
  most_common_elem_freqs: 'real[]',
  elem_count_histogram: 'real[]',
  range_length_histogram: 'text',
  range_empty_frac: 'real',
  range_bounds_histogram: 'text',
};

/** `materialized`, because the server may call the functions before it evaluates conditions. */
const restore = (from: string, to: string): Query => ({
  text: `
    with own as materialized (
      select c.oid, c.relkind = 'p' as partitioned, c.reltuples, n.nspname as schema, c.relname as name
        from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid in (to_regclass($1), to_regclass($2))
    ),
    found as materialized (
      select b.schema, b.name, b.partitioned, p.*
        from own s join own b on s.oid = to_regclass($1) and b.oid = to_regclass($2)
          -- Subqueries instead of a join: the server then finds one table by index, and does not
          -- scan those of all tables.
          join pg_stats p on p.schemaname = (select schema from own where oid = to_regclass($1))
            and p.tablename = (select name from own where oid = to_regclass($1)) and p.inherited = s.partitioned
          join pg_attribute a on a.attrelid = b.oid and a.attname = p.attname
    )
    select (select count(*) from pg_attribute where attrelid = b.oid and attnum > 0 and not attisdropped) =
        (select count(*) filter (where pg_restore_attribute_stats('schemaname', f.schema::text, 'relname', f.name::text,
            'attname', f.attname::text, 'inherited', f.partitioned, 'version', current_setting('server_version_num')::int,
            ${Object.entries(parts)
              .map(([name, type]) => `'${name}', f.${name}::${type}`)
              .join(', ')})) from found f)
      -- A partitioned table has no pages.
      and pg_restore_relation_stats('schemaname', b.schema::text, 'relname', b.name::text, 'relpages', case when b.partitioned then -1
        else (pg_relation_size(b.oid) / current_setting('block_size')::int)::int end, 'reltuples', s.reltuples) as done
      from own s join own b on s.oid = to_regclass($1) and b.oid = to_regclass($2)`,
  values: [from, to],
});

export const takeStatistics = async (
  client: Client,
  names: TableNames,
  { staging, gathered }: StagedStatistics,
): Promise<boolean> => {
  const built = builtName(names);
  if (!(await isAlike(client, staging, built)) || !(await gathered())) return false;
  return (await runQuery(client, restore(staging, built))).rows[0].done;
};

/** Copies statistics between tables (quoted names). Returns false if `to` has to be analyzed. */
export const copyStatistics = async (client: Client, from: string, to: string): Promise<boolean> =>
  (await isAlike(client, from, to)) && (await runQuery(client, restore(from, to))).rows[0].done;
