// Queries that are sent together cost one round trip, are answered in order, and fail as if sent one by one.

import { finished } from 'node:stream/promises';
import { from } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askPrepared, withClient, withTransaction, type Client } from '../../src/db/client.ts';
import { askTogether } from '../../src/db/ask-together.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await openProxy(Number(new URL(database.url).port));
});
afterAll(() => proxy.close());

const withProxied = <T>(work: (client: Client) => Promise<T>): Promise<T> => {
  const url = new URL(database.url);
  url.port = String(proxy.port);
  return withClient(addressFromUrl(url.href), work);
};

const read = async (client: Client, value: number): Promise<number> =>
  (await client.query('select $1::int as value', [value])).rows[0].value;

it('one round trip, answers in order, also of one prepared statement twice and of nested calls', async () => {
  await withProxied(async (client) => {
    const before = proxy.roundTrips();
    const answers = await askTogether(client, () => [
      read(client, 1),
      client.query('select 2 as value; select 3 as value'),
      askPrepared<{ value: number }>(client, 'select $1::int + 1 as value', [3]),
      askPrepared<{ value: number }>(client, 'select $1::int + 1 as value', [4]),
      askTogether(client, () => [read(client, 6), read(client, 7)]),
    ]);
    expect(proxy.roundTrips() - before).toBe(1);
    expect(answers[0]).toBe(1);
    expect((answers[1] as unknown as { rows: unknown[] }[]).map(({ rows }) => rows)).toEqual([
      [{ value: 2 }],
      [{ value: 3 }],
    ]);
    expect([answers[2].rows, answers[3].rows]).toEqual([[{ value: 4 }], [{ value: 5 }]]);
    expect(answers[4]).toEqual([6, 7]);
    await read(client, 8);
    await read(client, 9);
    expect(proxy.roundTrips() - before).toBe(3);
  });
});

it('calls that overlap on one client get their own answers, and COPY works after them', async () => {
  await withProxied(async (client) => {
    await client.query('create temporary table copied (id integer)');
    const short = askTogether(client, () => [read(client, 1), read(client, 2)]);
    const long = askTogether(client, () => [
      client.query('select pg_sleep(0.05)'),
      read(client, 3),
      askTogether(client, () => [read(client, 4), read(client, 5)]),
    ]);
    const alone = read(client, 6);
    expect(await short).toEqual([1, 2]);
    const late = read(client, 7);
    expect((await long).slice(1)).toEqual([3, [4, 5]]);
    expect(await Promise.all([alone, late])).toEqual([6, 7]);
    const copy = client.query(from('copy copied from stdin'));
    copy.end('8\n');
    await finished(copy);
    expect((await client.query('select id from copied')).rows).toEqual([{ id: 8 }]);
  });
});

it('the first error is thrown after all answers, and rolls the transaction back', async () => {
  await withProxied(async (client) => {
    await client.query('create table public.asked (id integer)');
    let ended = 0;
    const insert = (id: string): Promise<unknown> =>
      client.query(`insert into public.asked values (${id})`).finally(() => (ended += 1));
    const failing = withTransaction(client, () =>
      askTogether(client, () => [insert('1'), insert('1 / 0'), insert('2'), insert('nothing')]),
    );
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(ended).toBe(4);
    expect((await client.query('select id from public.asked')).rows).toEqual([]);
    expect(await read(client, 5)).toBe(5);
  });
});

it('a connection that is cut fails every query, and nothing waits', async () => {
  const asking = withProxied((client) =>
    askTogether(client, () => [
      client.query('select pg_terminate_backend(pg_backend_pid())'),
      read(client, 1),
    ]),
  );
  await expect(asking).rejects.toMatchObject({ code: 'ETL_SERVER_LOST' });
});
