// Databases on a server that is killed under them: a connection for every question, none kept.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { serverMajor } from './major-server.ts';

/** Room for all who connect at once, and little memory, because there are several such servers. */
export const serverSettings = { max_connections: '200', shared_buffers: '64MB' };

/** Asks over a connection of its own. */
export const ask = async <Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> => {
  const client = new pg.Client({ connectionString: url, application_name: 'fault test' });
  // The server may well be killed by then; the query fails and says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
};

export const databaseUrlOf = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl);
  url.pathname = database;
  return url.href;
};

/** An empty database under a name that nobody else has. */
export const createDatabase = async (serverUrl: string): Promise<string> => {
  const name = `fault_${randomUUID().replaceAll('-', '')}`;
  await ask(serverUrl, `create database ${name} template template0`);
  return name;
};

/** Makes a database of the files of another one, which nobody may use meanwhile: faster than by the log where there is little in it. */
export const copyDatabase = async (serverUrl: string, template: string, name: string): Promise<void> => {
  // PostgreSQL 14 has no other way.
  const way = serverMajor < 15 ? '' : 'strategy file_copy';
  await ask(serverUrl, `create database ${name} template ${template} ${way}`);
};

/** Ends what is still connected. */
export const dropDatabase = async (serverUrl: string, name: string): Promise<void> => {
  await ask(serverUrl, `drop database ${name} with (force)`);
};

/** An empty database for the length of a function. */
export const withDatabase = async <T>(serverUrl: string, use: (name: string) => Promise<T>): Promise<T> => {
  const name = await createDatabase(serverUrl);
  try {
    return await use(name);
  } finally {
    await dropDatabase(serverUrl, name);
  }
};
