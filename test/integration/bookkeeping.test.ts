// The bookkeeping schema is created once by any number of processes, and refused if it is newer
// than the program.

import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { readTrust } from '../../src/db/bookkeeping/trust.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { currentEpoch } from '../../src/ledger/run/epoch.ts';
import { failureOf } from '../helpers/failure.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

const start = async (url = database.url): Promise<string> => {
  const address = addressFromUrl(url);
  return withClient(address, async (client) => {
    await migrate(client);
    await postgresBackend(address).prepare();
    return currentEpoch(client);
  });
};

beforeAll(() => start());

it('what the migrations make is what src/db/bookkeeping/bookkeeping-shape.ts says; after a new migration run this file with -u', async () => {
  const { shape } = await withClient(addressFromUrl(database.url), (client) => readTrust(client));
  await expect(`// Shape of the schema \`etl\` after all migrations, as trust.ts reads it. Written by
// test/integration/bookkeeping.test.ts.

export const bookkeepingShape: readonly string[] = \`
${shape.join('\n')}
\`
  .trim()
  .split('\\n');
`).toMatchFileSnapshot('../../src/db/bookkeeping/bookkeeping-shape.ts');
});

describe('migrate', () => {
  const empty = useDatabase();
  const prepared = useDatabase();

  it('twenty at once: all succeed, every migration is applied once, all see one epoch', async () => {
    // In repeatable read, a transaction would create what others have created since it began.
    await empty.query(`do $$ begin
      execute format('alter database %I set default_transaction_isolation = ''repeatable read''', current_database()); end $$`);
    const epochs = await Promise.all(Array.from({ length: 20 }, () => start(empty.url)));
    expect(new Set(epochs).size).toBe(1);
    const { rows } = await empty.query('select version, file from etl.migration order by version');
    expect(rows).toEqual(
      readdirSync('src/db/bookkeeping/migrations').map((file, index) => ({ version: index + 1, file })),
    );
  });

  // Here no process waits for the creation of the schemas.
  it('twenty at once where the schemas are there, under repeatable read: all succeed', async () => {
    await prepared.query(`create schema etl; create schema etl_staging; do $$ begin
      execute format('alter database %I set default_transaction_isolation = ''repeatable read''', current_database()); end $$`);
    const migrated = Array.from({ length: 20 }, () => withClient(addressFromUrl(prepared.url), migrate));
    expect(await Promise.all(migrated)).toHaveLength(20);
  });

  it('a second time does nothing', async () => {
    const before = await database.query('select applied_at from etl.migration');
    await start();
    expect((await database.query('select applied_at from etl.migration')).rows).toEqual(before.rows);
  });

  it('refuses a schema that is newer than the program', async () => {
    await database.query(`insert into etl.migration (version, file) values (999, '0999_future.sql')`);
    const error = await failureOf(start());
    expect(error).toMatchObject({
      code: 'ETL_SCHEMA_NEWER',
      details: { found: 999, known: readdirSync('src/db/bookkeeping/migrations').length },
      exit: 1,
    });
    await database.query('delete from etl.migration where version = 999');
  });
});

describe('the shape of the bookkeeping', () => {
  it.each([
    {
      what: 'a column',
      sql: 'alter table etl.run add note text',
      says: 'no migration created etl.run: note text',
    },
    {
      what: 'a default',
      sql: 'alter table etl.queue alter name set default session_user',
      says: 'no migration created etl.queue: name text not null default SESSION_USER',
    },
    {
      what: 'an index',
      sql: 'create index on etl.run ((host || pipeline))',
      says: 'no migration created etl.run: CREATE INDEX run_expr_idx',
    },
    {
      what: 'a missing constraint',
      sql: 'alter table etl.run drop constraint run_state_check',
      says: 'etl.run: CHECK ((state = ANY',
    },
  ])('$what that is not of the migrations is refused', async ({ sql, says }) => {
    await withClient(addressFromUrl(database.url), async (client) => {
      await client.query(`begin; ${sql}`);
      const error = await failureOf(migrate(client));
      expect(error).toMatchObject({ code: 'ETL_UNTRUSTED' });
      expect(error.message).toContain(says);
    });
  });
});
