// Estimates the time and disk space of a planned run, from past runs and the size of production.

import type { Client } from '../db/client.ts';
import { quoteName } from '../db/sql.ts';
import type { PipelineSpec } from '../core/declaration/declaration.ts';
import type { PlannedTable } from '../run/files/planned-table.ts';

/** Number of recent published runs to compare with. */
const runsCompared = 10;

const bytesOf = ({ files }: PlannedTable): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Estimates the seconds of a run: the time of the recent run with the most similar number of bytes,
 * multiplied if the planned run has more bytes. Returns null if no run was published.
 */
export const foreseenSeconds = async (
  client: Client,
  pipeline: string,
  planned: readonly PlannedTable[],
): Promise<number | null> => {
  const bytes = planned.reduce((sum, table) => sum + bytesOf(table), 0);
  const { rows } = await client.query<{ seconds: number; bytes: number }>(
    `select extract(epoch from r.finished_at - r.started_at)::float8 as seconds, f.bytes
      from etl.run r cross join lateral (
        select coalesce(sum(bytes), 0)::float8 as bytes from etl.source_file where run_id = r.id
      ) f
      where r.pipeline = $1 and r.state = 'published' order by r.id desc limit ${runsCompared}`,
    [pipeline],
  );
  const distance = (other: number): number => Math.abs(Math.log((other + 1) / (bytes + 1)));
  const [nearest] = rows.toSorted((one, other) => distance(one.bytes) - distance(other.bytes));
  if (nearest === undefined) return null;
  const share = nearest.bytes === 0 ? 1 : Math.max(1, bytes / nearest.bytes);
  return Number((nearest.seconds * share).toFixed(1));
};

interface Known {
  readonly table: string;
  /** Bytes of the table and its indexes on disk. */
  readonly size: number;
  /** Total bytes of the files whose rows the table contains. */
  readonly bytes: number;
}

/**
 * Estimates the bytes on disk of staging and built tables just before the run publishes, from
 * production's bytes per byte of its files. Returns null if a table has no such ratio yet.
 */
export const foreseenRoom = async (
  client: Client,
  { name, schema, tables }: PipelineSpec,
  planned: readonly PlannedTable[],
): Promise<number | null> => {
  const names = tables.map((table) => table.name);
  const { rows } = await client.query<Known>(
    `select t.name as table, coalesce((
          select sum(pg_total_relation_size(relid)) from pg_partition_tree(to_regclass(t.quoted))
        ), pg_total_relation_size(to_regclass(t.quoted)))::float8 as size,
        (select coalesce(sum(p.bytes), 0) from etl.published_file p
          where p.pipeline = $1 and p.schema_name = $2 and p.table_name = t.name)::float8 as bytes
      from unnest($3::text[], $4::text[]) as t (name, quoted) where to_regclass(t.quoted) is not null`,
    [name, schema, names, names.map((one) => quoteName(schema, one))],
  );
  let needed = 0;
  for (const { name: table } of tables) {
    const known = rows.find((row) => row.table === table);
    const own = planned.find((one) => one.table.name === table);
    if (known === undefined || (own !== undefined && known.bytes === 0)) return null;
    const size = own === undefined ? known.size : (known.size * bytesOf(own)) / known.bytes;
    // Rows are stored twice: in staging, and in the built table.
    needed += own === undefined || own.table.staging === 'none' ? size : 2 * size;
  }
  return Math.round(needed);
};
