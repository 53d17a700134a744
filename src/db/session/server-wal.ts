// How much write-ahead log the server has written since the run began.
//
// The log has one position for all sessions. What a session of its own wrote is known from PostgreSQL 18 on only, and forgotten
// when it ends, as those of our workers do. So this is the server's figure, and named so.

import type { Client } from '../client.ts';
import { isRefusal } from '../connect/server-error.ts';

/** The first row of a query that not every server answers: Aurora has no such log. */
const firstRow = async (client: Client, text: string, values: readonly unknown[] = []) => {
  try {
    return (await client.query(text, [...values])).rows[0];
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
};

/** Where the log ends now; undefined if the server does not say. Not in a transaction: a refusal would end it. */
export const walPosition = async (client: Client): Promise<string | undefined> =>
  (await firstRow(client, 'select pg_current_wal_insert_lsn()::text as position'))?.position;

/** Bytes since then; undefined if the server does not say, or is another one. */
export const walBytesSince = async (
  client: Client,
  start: string | undefined,
): Promise<number | undefined> => {
  if (start === undefined) return undefined;
  const row = await firstRow(
    client,
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)::float8 as bytes',
    [start],
  );
  return row === undefined || row.bytes < 0 ? undefined : row.bytes;
};
