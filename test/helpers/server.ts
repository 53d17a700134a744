// Gives tests databases of their own on the server of the test run.

import { randomUUID } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { serverMajor } from './major-server.ts';

const administer = async (sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: inject('serverUrl') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};

export interface CreatedDatabase {
  readonly url: string;
  /** Ends what is still connected. */
  drop(): Promise<void>;
}

/** Copying files takes half the time of logging every page, which is the default since 15. */
const copying = serverMajor < 15 ? '' : 'strategy file_copy';

/** An empty database under a name that nobody else has. */
export const createDatabase = async (options = ''): Promise<CreatedDatabase> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(`create database ${name} template template0 ${copying} ${options}`);
  const url = new URL(inject('serverUrl'));
  url.pathname = name;
  return { url: url.href, drop: () => administer(`drop database ${name} with (force)`) };
};

/** Takes every run out of a bookkeeping, which is there afterwards as it was before: making it again takes a tenth of a second. */
export const forgetRuns = `do $$ begin
  execute (select 'truncate ' || string_agg(format('etl.%I', relname), ', ') || ' restart identity cascade'
    from pg_class where relnamespace = to_regnamespace('etl') and relkind = 'r' and relname <> 'migration');
exception when null_value_not_allowed then null;
end $$`;

export interface TestDatabase {
  /** Set before the first test runs. */
  readonly url: string;
  /** On one connection, opened at the first call. */
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

/** A database for the tests of a file or of a `describe`; dropped after them. */
export const useDatabase = (create: () => Promise<CreatedDatabase> = createDatabase): TestDatabase => {
  let database: CreatedDatabase | undefined;
  let connecting: Promise<pg.Client> | undefined;
  // node-postgres warns of a statement that waits for another one to end.
  let last: Promise<unknown> = Promise.resolve();

  const url = (): string => {
    if (database === undefined)
      throw new Error('useDatabase: the database is made in beforeAll; read url in a test');
    return database.url;
  };
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url() });
    // A test may well kill this connection; the next query then fails and says so.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };

  beforeAll(async () => {
    database = await create();
  });
  afterAll(async () => {
    const client = await connecting?.catch(() => undefined);
    await client?.end().catch(() => undefined);
    await database?.drop();
  });
  return {
    get url() {
      return url();
    },
    query: async (sql, values) => {
      const client = await (connecting ??= open());
      const answer = last.then(() => client.query(sql, values && [...values]));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
};
