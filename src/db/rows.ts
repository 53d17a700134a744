// Asks how many rows there are. `from`: SQL, such as the quoted name of a table.

import { isThere, type Client } from './client.ts';
import { quoteText } from './sql.ts';

export const countRows = async (client: Client, from: string): Promise<number> =>
  (await client.query(`select count(*)::float8 as rows from ${from}`)).rows[0].rows;

/**
 * Whether the table by this quoted name has rows, or policies that hide rows from us: such a table must not be taken for one that
 * somebody has emptied, of which all would be made again. Proved by test/modes/hidden-rows.test.ts.
 */
export const mayHaveRows = async (client: Client, table: string): Promise<boolean> =>
  (
    await client.query(
      `select exists (select from ${table}) or row_security_active(${quoteText(table)}::regclass::oid) as "hasRows"`,
    )
  ).rows[0].hasRows;

/** Whether there is a table by this quoted name that has rows. */
export const isFilled = async (client: Client, table: string): Promise<boolean> =>
  (await isThere(client, table)) && mayHaveRows(client, table);
