// Counts rows. `from` and `table` are SQL, such as a quoted table name.

import { isThere, type Client } from './client.ts';
import { quoteText } from './sql.ts';

export const countRows = async (client: Client, from: string): Promise<number> =>
  (await client.query(`select count(*)::float8 as rows from ${from}`)).rows[0].rows;

/**
 * True also if row security may hide rows: if the table looked empty, a run would load everything
 * again. Proved by test/modes/hidden-rows.test.ts. Citus cannot plan `select from`.
 */
export const mayHaveRows = async (client: Client, table: string): Promise<boolean> =>
  (
    await client.query(
      `select exists (select 1 from ${table}) or row_security_active(${quoteText(table)}::regclass::oid) as "hasRows"`,
    )
  ).rows[0].hasRows;

export const isFilled = async (client: Client, table: string): Promise<boolean> =>
  (await isThere(client, table)) && mayHaveRows(client, table);
