// Every session starts with one statement, which makes the search path safe and applies settings.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
let proxy: FaultProxy;
const proxied = (): string => {
  const url = new URL(database.url);
  url.port = String(proxy.port);
  return url.href;
};

beforeAll(async () => {
  proxy = await openProxy(Number(new URL(database.url).port));
});
afterAll(() => proxy.close());

it('a session begins with one round trip', async () => {
  const before = proxy.effects();
  await withClient(addressFromUrl(proxied()), () => Promise.resolve());
  expect(proxy.effects() - before).toBe(1);
});

it('a session has what a server of Linux takes, whatever a database has set', async () => {
  const limits = [
    'statement_timeout',
    'lock_timeout',
    'idle_in_transaction_session_timeout',
    'idle_session_timeout',
    ...(serverMajor < 17 ? [] : ['transaction_timeout']),
  ];
  const others = ['search_path = nowhere', `tcp_user_timeout = '1s'`];
  for (const setting of [...others, ...limits.map((name) => `${name} = '1h'`)])
    await database.query(
      `do $$ begin execute format('alter database %I set ${setting.replaceAll("'", "''")}', current_database()); end $$`,
    );
  // TCP settings belong to a TCP socket: over a Unix socket they would show 0.
  const shown = await withClient(addressFromUrl(proxied()), (client) =>
    client.query(
      `select current_setting('search_path') as path, current_setting('application_name') as name,
        current_setting('client_connection_check_interval') as check, current_setting('tcp_user_timeout') as timeout,
        array(select name from pg_settings where name = any ($1) and setting <> '0') as limits`,
      [limits],
    ),
  );
  expect(shown.rows).toEqual([
    {
      path: 'pg_catalog, pg_temp',
      name: 'sluice',
      check: '2s',
      timeout: '30000',
      limits: [],
    },
  ]);
});
