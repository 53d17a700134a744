// The server ends connections that BullMQ opens itself, while BullMQ does not listen to them.

import type { PostgresQueueBackend } from 'bullmq';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { GuardedClient } from '../../src/db/connect/guarded-client.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

const endListeners = `select pg_terminate_backend(pid) from pg_stat_activity
   where datname = current_database() and application_name = 'listener'`;

it('a session that is ended while BullMQ says goodbye to it is not an error that nobody catches', async () => {
  const address = addressFromUrl(database.url);
  const backend = postgresBackend(address);
  await backend.prepare();
  const { factory, options, destroy } = backend.connect('', 'gives up');
  const queue = factory('listener', options, { withBlockingConnection: true }) as PostgresQueueBackend;
  await queue.waitUntilReady();
  const listener = (await queue.connection.getListenClient()) as unknown as pg.Client;
  const gonePromise = new Promise((resolve) => void listener.connection.once('end', resolve));
  await withClient(address, async (client) => {
    const endedPromise = client.query(endListeners);
    // The server ends the session while this thread reads nothing. BullMQ removes its listeners
    // before the error arrives.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    const closedPromise = queue.close();
    expect(listener.listenerCount('error')).toBe(0);
    const { rows } = await endedPromise;
    expect(rows).toEqual([{ pg_terminate_backend: true }]);
    await Promise.all([closedPromise, gonePromise]);
  });
  destroy();
});

it.each([
  { code: undefined, is: 'ETL_SERVER_LOST' },
  { code: 'ECONNRESET', is: 'ETL_SERVER_LOST' },
  { code: '57P01', is: 'ETL_SERVER_LOST' },
  { code: '42501', is: 'ETL_PERMISSION' },
  { code: '22023', is: '22023' },
])('an error of the queue with code $code is $is', ({ code, is }) => {
  const error = Object.assign(new Error('read failed'), { code });
  expect(postgresBackend(addressFromUrl(database.url)).errorOf(error)).toMatchObject({ code: is });
});

it('a guarded connection reports its loss to its listeners only', () => {
  const client = new GuardedClient(addressFromUrl(database.url).config, { name: 'guarded', schemas: [] });
  const loss = new Error('ended');
  expect(client.emit('error', loss)).toBe(false);
  const heard: unknown[] = [];
  client.on('error', (error) => heard.push(error));
  expect(client.emit('error', loss)).toBe(true);
  expect(heard).toEqual([loss]);
});
