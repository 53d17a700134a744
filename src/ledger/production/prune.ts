// Deletes old runs from the ledger, with files, chunks and rejects, if nothing refers to them.

import type { Client } from '../../db/client.ts';
import type { Pruned } from './upkeep.ts';

/**
 * SQL: runs that ended before $1, except runs that are still needed:
 * - each pipeline's newest run, which may be continued;
 * - each pipeline's newest published run, which shows that there is nothing to do;
 * - runs of current and kept versions of tables, and runs whose hook was interrupted.
 */
const oldRuns = `
  select r.id from etl.run r
    where r.finished_at < $1 and r.state in ('published', 'failed', 'cancelled') and not r.hook_pending
      and r.id not in (select max(id) from etl.run group by pipeline)
      and r.id not in (select max(id) from etl.run where state = 'published' group by pipeline)
      and r.id not in (select run_id from etl.kept_table union select replaced_by from etl.kept_table)
      and r.id not in (
        select unnest(array[run_id, coalesce(version, run_id)]) from (
          select distinct on (schema_name, table_name) run_id, version from etl.published_table
            order by schema_name, table_name, published_at desc, run_id desc
        ) newest)`;

export const countOld = async (client: Client, before: Date): Promise<Pruned> =>
  (
    await client.query(
      `with old as materialized (${oldRuns}),
        file as materialized (select id from etl.source_file where run_id in (select id from old))
      select (select count(*)::float8 from old) as runs, (select count(*)::float8 from file) as files,
        (select count(*)::float8 from etl.chunk where file_id in (select id from file)) as chunks,
        (select count(*)::float8 from etl.reject where run_id in (select id from old)) as rejects,
        (select count(*)::float8 from etl.failure where failed_at < $1) as failures`,
      [before],
    )
  ).rows[0];

/** Limits of one delete statement, so that none holds a snapshot for long. */
const runsAtOnce = 500;
const rowsAtOnce = 20_000;

/** Tables to delete from, in the order that foreign keys require. */
const partsOfRuns = [
  [
    'chunks',
    'etl.chunk',
    'select c.ctid from etl.chunk c join etl.source_file f on f.id = c.file_id where f.run_id = any ($1)',
  ],
  ['rejects', 'etl.reject', 'select ctid from etl.reject where run_id = any ($1)'],
  [
    undefined,
    'etl.corrected',
    'select c.ctid from etl.corrected c join etl.source_file f on f.id = c.file_id where f.run_id = any ($1)',
  ],
  [undefined, 'etl.data_test', 'select ctid from etl.data_test where run_id = any ($1)'],
  ['files', 'etl.source_file', 'select ctid from etl.source_file where run_id = any ($1)'],
  ['runs', 'etl.run', 'select ctid from etl.run where id = any ($1)'],
] as const;

/**
 * Deletes old runs and failures. Calls `then` before each delete of a run's rows; if `then` throws,
 * the next call of this function deletes the rest.
 */
export const deleteOld = async (client: Client, before: Date, then: () => void): Promise<Pruned> => {
  const counts = { runs: 0, files: 0, chunks: 0, rejects: 0, failures: 0 };
  const ids: readonly string[] = (await client.query(`${oldRuns} order by 1`, [before])).rows.map(
    ({ id }) => id,
  );
  for (let first = 0; first < ids.length; first += runsAtOnce) {
    const some = ids.slice(first, first + runsAtOnce);
    for (const [count, table, rows] of partsOfRuns) {
      let deleted = rowsAtOnce;
      while (deleted === rowsAtOnce) {
        then();
        const sql = `delete from ${table} where ctid = any (array(${rows} limit ${rowsAtOnce}))`;
        deleted = (await client.query(sql, [some])).rowCount ?? 0;
        if (count !== undefined) counts[count] += deleted;
      }
    }
  }
  const { rowCount } = await client.query('delete from etl.failure where failed_at < $1', [before]);
  return { ...counts, failures: rowCount ?? 0 };
};
