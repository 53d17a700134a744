// Readers of published tables, and the longest that one of their reads took.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export type Reading = (client: pg.Client, table: () => string) => Promise<void>;

export interface Reader {
  /** Forgets the longest time so far, and returns it. */
  readonly forget: () => number;
  /** Stops reading; returns the longest time of one read, in milliseconds. */
  readonly stop: () => Promise<number>;
}

/** Reads `tables`, by their names, one after the other until it is asked to stop. */
export const startReader = (url: string, tables: readonly string[], read: Reading): Reader => {
  let isReading = true;
  let longest = 0;
  let place = 0;
  const table = (): string => tables[(place += 7919) % tables.length]!;
  const ended = (async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    while (isReading) {
      const start = performance.now();
      await read(client, table);
      longest = Math.max(longest, performance.now() - start);
    }
    await client.end();
  })();
  return {
    forget: () => {
      const before = longest;
      longest = 0;
      return before;
    },
    stop: async () => {
      isReading = false;
      await ended;
      return longest;
    },
  };
};

export const glance: Reading = async (client, table) => {
  await client.query(`select from ${table()} limit 1`);
  await sleep(1);
};
export const query: Reading = async (client, table) => {
  await client.query(`select count(*), pg_sleep(0.005) from ${table()}`);
};
export const transaction: Reading = async (client, table) => {
  await client.query(`begin; select from ${table()} limit 1`);
  await sleep(1_000);
  await client.query('commit');
};
