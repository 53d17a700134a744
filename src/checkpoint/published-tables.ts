// What a run published: one row for each of its tables.

import type { Client } from '../db/client.ts';
import type { RowChanges } from '../model.ts';

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
