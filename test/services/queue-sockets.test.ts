// Ending the sockets of a node-postgres pool while a caller waits for a connection.

import pg from 'pg';
import { expect, it } from 'vitest';
import { createSocketSet } from '../../src/queue/postgres-backend.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

it('a pool whose sockets are ended refuses waiting and later requests, without an uncaught error', async () => {
  const sockets = createSocketSet();
  const pool = new pg.Pool({ connectionString: database.url, max: 1, stream: sockets.open });
  pool.on('error', () => undefined);
  const taken = await pool.connect();
  taken.on('error', () => undefined);
  const waiting = pool.connect();
  sockets.destroy();
  // The pool now opens a connection for the waiting caller, in a callback of its own
  // (black-hole.test.ts found this).
  taken.release(true);
  await expect(waiting).rejects.toThrow('the queue is closed');
  await expect(pool.query('select 1')).rejects.toThrow('the queue is closed');
  await pool.end();
});

it('once the sockets of a pool that has ended are closed, the server has none of its sessions', async () => {
  const sockets = createSocketSet();
  const pool = new pg.Pool({
    connectionString: database.url,
    application_name: 'sockets of a pool',
    stream: sockets.open,
  });
  await Promise.all([1, 2, 3].map(() => pool.query('select pg_sleep(0.01)')));
  await pool.end();
  await sockets.closed();
  const left = await database.query(
    `select pid from pg_stat_activity where application_name = 'sockets of a pool'`,
  );
  expect(left.rows).toEqual([]);
});
