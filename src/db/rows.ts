// Asks how many rows there are. `from`: SQL, such as the quoted name of a table.

import type { Client } from './client.ts';

export const countRows = async (client: Client, from: string): Promise<number> =>
  (await client.query(`select count(*)::float8 as rows from ${from}`)).rows[0].rows;

export const hasRows = async (client: Client, from: string): Promise<boolean> =>
  (await client.query(`select exists (select from ${from}) as "hasRows"`)).rows[0].hasRows;
