// Results of a run's data tests, and the files that failing rows come from.

import { isThere, runQuery, withTransaction, rowsOf, type Client } from '../../db/client.ts';
import { storableJson } from '../../db/sql.ts';
import type { DataTestResult } from '../../core/data-test.ts';

export const recordTests = async (
  client: Client,
  runId: number,
  results: readonly DataTestResult[],
): Promise<void> => {
  await withTransaction(client, async () => {
    await runQuery(client, { text: 'delete from etl.data_test where run_id = $1', values: [runId] });
    await runQuery(client, {
      text: `insert into etl.data_test (run_id, place, table_name, test, kind, severity, outcome, failures, problem, rows, seconds)
        select $1, t.place, t.one ->> 'table', t.one ->> 'test', t.one ->> 'kind', t.one ->> 'severity', t.one ->> 'outcome',
            (t.one ->> 'failures')::bigint, t.one ->> 'problem', t.one -> 'rows', (t.one ->> 'seconds')::float8
          from json_array_elements($2::json) with ordinality as t (one, place)`,
      values: [runId, storableJson(results)],
    });
  });
};

export const testsOfRun = (client: Client, runId: number): Promise<readonly DataTestResult[]> =>
  rowsOf(client, {
    text: `select table_name as "table", test, kind, severity, outcome, failures::float8 as failures, problem, rows, seconds
      from etl.data_test where run_id = $1 order by place`,
    values: [runId],
  });

export const fileNames = async (
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map();
  if (!(await isThere(client, 'etl.published_file'))) return new Map();
  const { rows } = await client.query(
    `select id::text as id, name from etl.source_file where id = any ($1::bigint[])
      union select file_id::text, name from etl.published_file where file_id = any ($1::bigint[])`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
};

/** Returns the table's row count before its newest publication; null: unknown. */
export const rowsBeforeNewest = async (
  client: Client,
  schema: string,
  table: string,
): Promise<number | null> => {
  if (!(await isThere(client, 'etl.published_table'))) return null;
  const { rows } = await client.query(
    `select rows_before::float8 as before from etl.published_table
      where schema_name = $1 and table_name = $2 order by published_at desc, run_id desc limit 1`,
    [schema, table],
  );
  return rows[0]?.before ?? null;
};
