// Measures the write-ahead log of the whole server: PostgreSQL counts a session's own log only
// since version 18, and forgets it when the session ends.

import type { Client } from '../client.ts';
import { isRefusal } from '../connect/server-error.ts';

/** Returns undefined if the server refuses the query, as Aurora does: it has no such log. */
const firstRow = async (client: Client, text: string, values: readonly unknown[] = []) => {
  try {
    return (await client.query(text, [...values])).rows[0];
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
};

/** Must not run in a transaction, because an error of the query would abort it. */
export const walPosition = async (client: Client): Promise<string | undefined> =>
  (await firstRow(client, 'select pg_current_wal_insert_lsn()::text as position'))?.position;

/** Counts the bytes since `start`; undefined if the server refuses, or is another server. */
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
