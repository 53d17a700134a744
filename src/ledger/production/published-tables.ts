// What a run published: one row for each of its tables.

import type { Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { RowChanges } from '../../core/model.ts';

interface PublishedTable {
  readonly table: string;
  readonly schema: string;
  /** Null: there was no table, or its rows were not counted. */
  readonly rowsBefore: number | null;
  readonly rows: number;
  readonly seconds: number;
  readonly strategy: string;
  /** Null: its rows were not merged. */
  readonly changes: RowChanges | null;
  /** Null: all of its partitions were replaced, or it has none. */
  readonly partitions: readonly string[] | null;
  readonly publishedAt: Date;
}

/** By the table's name; none before the run is published. */
export const publishedTables = async (client: Client, runId: number): Promise<readonly PublishedTable[]> =>
  (
    await client.query<PublishedTable>(
      `select table_name as "table", schema_name as schema, rows_before::float8 as "rowsBefore", rows::float8, seconds, strategy,
          changes, partitions, published_at as "publishedAt"
        from etl.published_table where run_id = $1 order by table_name`,
      [runId],
    )
  ).rows;

/** SQL: the partitions of the table with this oid; null: it is one whole. */
const partitionOids = (oid: string): string => `(
    select array(select i.inhrelid from pg_inherits i where i.inhparent = d.oid order by 1)
      from pg_class d where d.oid = ${oid} and d.relkind = 'p'
  )`;

/** Records which partitions the tables of a run have: the last statement before its commit, when all of them are in their places. */
export const recordPartitions = (runId: number): string =>
  `update etl.published_table p set partition_oids = ${partitionOids('p.table_oid')} where p.run_id = ${runId};`;

/** The newest record of a table that is in production. */
export interface Recorded {
  readonly run: number;
  readonly rows: number;
  /** Whether it has the partitions that it had then. */
  readonly isWhole: boolean;
}

/** A row for the table in production; null: no run has published this very table. No row: there is no table. */
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

/** What shows the publications of each of these tables, by its name: equal texts mean that no pipeline has published it in between. */
export const publicationsOf = async (
  client: Client,
  schema: string,
  tables: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  // A sum beside the count: a run that is pruned and one that publishes would leave the count as it was.
  const { rows } = await client.query<{ name: string; stand: string }>(
    `select t.name, concat_ws(' ', count(p.run_id), sum(p.run_id)) as stand
      from unnest($2::text[]) t (name) left join etl.published_table p on p.schema_name = $1 and p.table_name = t.name
      group by t.name`,
    [schema, tables],
  );
  return new Map(rows.map(({ name, stand }) => [name, stand]));
};
