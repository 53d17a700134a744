// Connections of the experiments, and the same server for PostgreSQL's own programs.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Opens a connection for the length of a function; one that the server ends is no unhandled error. */
export const withPg = async <T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** Rows of one statement, over a connection of its own. */
export const ask = async (
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, any>>[]> =>
  withPg(url, async (client) => (await client.query(sql, [...values])).rows);

/** Asks, also while the server does not answer, until the first row is what is waited for. */
export const askUntil = async (
  url: string,
  sql: string,
  isIt: (row: Readonly<Record<string, any>>) => boolean,
): Promise<void> => {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const [row] = await ask(url, sql).catch(() => []);
    if (row !== undefined && isIt(row)) return;
    if (Date.now() > deadline) throw new Error(`the server did not get ready within two minutes: ${sql}`);
    await sleep(50);
  }
};

/** A server's address as libpq reads it from the environment. */
export const libpqEnvironment = (url: string): Readonly<Record<string, string>> => {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const found = {
    PGHOST: searchParams.get('host') ?? hostname,
    PGPORT: searchParams.get('port') ?? port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get('sslmode') ?? '',
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
};
