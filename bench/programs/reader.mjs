// A thread that reads published tables one after the other, and keeps the longest time of one read. It has an event loop of its own: that
// of a run which publishes would add its own pauses.
// @ts-check

import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';

/** @typedef {(client: pg.Client, table: string) => Promise<void>} Read */
/** @typedef {import('../readers.ts').ReaderData} ReaderData */

/** @type {Readonly<Record<ReaderData['reading'], Read>>} */
const readings = {
  glance: async (client, table) => {
    await client.query(`select from ${table} limit 1`);
    await sleep(1);
  },
  query: async (client, table) => {
    await client.query(`select count(*), pg_sleep(0.005) from ${table}`);
  },
  transaction: async (client, table) => {
    await client.query(`begin; select from ${table} limit 1`);
    await sleep(1_000);
    await client.query('commit');
  },
};

/** @type {ReaderData} */
const { url, tables, reading, longest } = workerData;
const read = readings[reading];
let isReading = true;
parentPort?.once('message', () => {
  isReading = false;
});

const client = new pg.Client({ connectionString: url });
await client.connect();
for (let place = 7919; isReading; place += 7919) {
  const start = performance.now();
  await read(client, /** @type {string} */ (tables[place % tables.length]));
  const microseconds = Math.round((performance.now() - start) * 1000);
  if (microseconds > Atomics.load(longest, 0)) Atomics.store(longest, 0, microseconds);
}
await client.end();
