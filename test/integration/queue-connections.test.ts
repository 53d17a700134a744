// Connections that BullMQ opens for itself, ended by the server while BullMQ does not listen to them.

import type { PostgresQueueBackend } from 'bullmq';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/address.ts';
import { GuardedClient, withClient } from '../../src/db/client.ts';
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
    // The server ends the session while nothing is read here; then BullMQ takes its ears off, and only now it is told.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    const closedPromise = queue.close();
    expect(listener.listenerCount('error')).toBe(0);
    const { rows } = await endedPromise;
    expect(rows).toEqual([{ pg_terminate_backend: true }]);
    await Promise.all([closedPromise, gonePromise]);
  });
  destroy();
});

it('a guarded connection tells its loss to those who listen, and to nobody else', () => {
  const client = new GuardedClient({}, { name: 'guarded', schemas: [] });
  const loss = new Error('ended');
  expect(client.emit('error', loss)).toBe(false);
  const heard: unknown[] = [];
  client.on('error', (error) => heard.push(error));
  expect(client.emit('error', loss)).toBe(true);
  expect(heard).toEqual([loss]);
});
