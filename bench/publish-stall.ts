// For how long publishing makes readers wait: the slowest read of a published table while a run takes its place.
//
//   npm run bench:stall [-- --tables 1,10,400 --rounds 3 --distance 20]
//
// docs/benchmarks.md, "Readers while tables are published", says how to read it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { column, csv, definePipeline, runPipeline } from '../src/index.ts';
import { openDistance } from './distance.ts';
import { withServer } from './server.ts';

type Reading = (client: pg.Client, table: () => string) => Promise<void>;

/** Reads until it is asked to stop; returns the longest time of one read, in milliseconds. */
const startReader = (url: string, tables: number, read: Reading) => {
  let isReading = true;
  let longest = 0;
  let place = 0;
  const table = (): string => `stall.t${(place += 7919) % tables}`;
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
    forget: () => (longest = 0),
    stop: async () => {
      isReading = false;
      await ended;
      return longest;
    },
  };
};

const glance: Reading = async (client, table) => {
  await client.query(`select from ${table()} limit 1`);
  await sleep(1);
};
const query: Reading = async (client, table) => {
  await client.query(`select count(*), pg_sleep(0.005) from ${table()}`);
};
const transaction: Reading = async (client, table) => {
  await client.query(`begin; select from ${table()} limit 1`);
  await sleep(1_000);
  await client.query('commit');
};

/** The longest stall of a glance during one run. */
const measureStall = async (
  url: string,
  directory: string,
  tables: number,
  others: readonly Reading[],
  runUrl: string,
): Promise<number> => {
  const table = {
    source: csv(join(directory, 't.csv')),
    columns: { id: column.integer('id'), name: column.text('name') },
    primaryKey: ['id'] as const,
  };
  const pipeline = definePipeline({
    name: 'stall',
    schema: 'stall',
    tables: Object.fromEntries(Array.from({ length: tables }, (_, place) => [`t${place}`, table])),
  });
  const readers = others.map((read) => startReader(url, tables, read));
  const watchers = Array.from({ length: 2 }, () => startReader(url, tables, glance));
  await runPipeline(pipeline, {
    databaseUrl: runUrl,
    fullRefresh: true,
    redis: false,
    onEvent: (event) => {
      // What builds and their checkpoints take from the machine is not what this is about.
      if (event.type === 'step' && event.step === 'publish') for (const watcher of watchers) watcher.forget();
    },
  });
  const stalls = await Promise.all(watchers.map((watcher) => watcher.stop()));
  await Promise.all(readers.map((reader) => reader.stop()));
  return Math.max(...stalls);
};

const { values } = parseArgs({
  options: {
    tables: { type: 'string', default: '1,10,400' },
    rounds: { type: 'string', default: '3' },
    distance: { type: 'string', default: '20' },
  },
});

await withServer(async ({ url, query: ask }, directory) => {
  writeFileSync(join(directory, 't.csv'), 'id,name\n1,Ulm\n2,Trier\n');
  const distant = await openDistance(url, Number(values.distance));
  for (const tables of values.tables.split(',').map(Number)) {
    await ask(
      `create schema stall; ${Array.from(
        { length: tables },
        (_, place) => `create table stall.t${place} (id integer primary key, name text not null)`,
      ).join(';')}`,
    );
    const queries = [query, query, query];
    const cases = [
      { name: 'nobody else', others: [], runUrl: url },
      { name: 'queries of 5 ms', others: queries, runUrl: url },
      { name: `the same, ${values.distance} ms away`, others: queries, runUrl: distant.url },
      { name: 'and transactions of 1 s', others: [...queries, transaction, transaction], runUrl: url },
    ];
    for (const { name, others, runUrl } of cases) {
      const stalls = [];
      for (let round = 0; round < Number(values.rounds); round += 1)
        stalls.push(Math.round(await measureStall(url, directory, tables, others, runUrl)));
      console.log(`${tables} tables, ${name}: ${stalls.join(', ')} ms`);
    }
    await ask('drop schema stall cascade');
  }
  distant.close();
});
