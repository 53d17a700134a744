// The tables that a run published.

import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { RowChanges } from '../../core/model.ts';

export interface PublishedTable {
  readonly table: string;
  readonly schema: string;
  readonly rowsBefore: number | null;
  readonly rows: number;
  readonly seconds: number;
  readonly strategy: string;
  readonly changes: RowChanges | null;
  /** null: not partitioned, or all partitions were replaced. */
  readonly partitions: readonly string[] | null;
  readonly publishedAt: Date;
}

export const publishedTables = (client: Client, runId: number): Promise<readonly PublishedTable[]> =>
  rowsOf(client, {
    text: `select table_name as "table", schema_name as schema, rows_before::float8 as "rowsBefore", rows::float8, seconds, strategy,
          changes, partitions, published_at as "publishedAt"
        from etl.published_table where run_id = $1 order by table_name`,
    values: [runId],
  });

const partitionOids = (oid: string): string => `(
    select array(select i.inhrelid from pg_inherits i where i.inhparent = d.oid order by 1)
      from pg_class d where d.oid = ${oid} and d.relkind = 'p'
  )`;

/** Records the tables' partitions. Must run last before the commit, when all are attached. */
export const recordPartitions = (runId: number): string =>
  `update etl.published_table p set partition_oids = ${partitionOids('p.table_oid')} where p.run_id = ${runId};`;

export interface Recorded {
  readonly run: number;
  readonly rows: number;
  /** True if the table has the same partitions as when it was recorded. */
  readonly isWhole: boolean;
}

/** Selects one row if the table exists; `recorded` is null if no run published this very table. */
export const selectRecorded = (schema: string, table: string): Query => ({
  text: `select (
      select json_build_object('run', p.run_id, 'rows', p.rows, 'isWhole', p.partition_oids is not distinct from ${partitionOids('c.oid')})
        from etl.published_table p
        where p.table_oid = c.oid and p.schema_name = $1 and p.table_name = $2 order by p.published_at desc, p.run_id desc limit 1
    ) as recorded
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = $2`,
  values: [schema, table],
});

/** Returns for each table a text that changes with every publication, by any pipeline. */
export const publicationsOf = async (
  client: Client,
  schema: string,
  tables: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  // The sum is needed, too: if one run is pruned and another publishes, the count stays the same.
  const { rows } = await client.query<{ name: string; state: string }>(
    `select t.name, concat_ws(' ', count(p.run_id), sum(p.run_id)) as state
      from unnest($2::text[]) t (name) left join etl.published_table p on p.schema_name = $1 and p.table_name = t.name
      group by t.name`,
    [schema, tables],
  );
  return new Map(rows.map(({ name, state }) => [name, state]));
};
