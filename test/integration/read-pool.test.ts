// A few read-only connections for many callers.

import { expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import type { Client } from '../../src/db/client.ts';
import { createReadPool } from '../../src/db/read-pool.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

it('reads as many at once as it may, also for those who come when others have waited', async () => {
  const limits = { connectionsMax: 2, waitingMax: 100, statementMsMax: 10_000, idleMs: 10_000 };
  const pool = createReadPool({ ...limits, address: () => Promise.resolve(addressFromUrl(database.url)) });
  let [now, most] = [0, 0];
  const read = async (client: Client): Promise<void> => {
    now += 1;
    most = Math.max(most, now);
    await client.query('select pg_sleep(0.05)');
    now -= 1;
  };
  const visit = async (): Promise<void> => {
    for (let times = 0; times < 3; times += 1) await pool.read(read);
  };
  await Promise.all(Array.from({ length: 6 }, visit));
  await pool.close();
  expect(most).toBe(2);
});
