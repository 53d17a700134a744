// Replaces pgbench where there is none: the same transactions by connections of one process, for some seconds.

import { json } from 'node:stream/consumers';
import pg from 'pg';

interface Work {
  readonly schema: string;
  readonly clients: number;
  readonly scale: number;
  readonly seconds: number;
  readonly isPrepared: boolean;
  readonly synchronousCommit?: string;
}

const { schema, clients, scale, seconds, isPrepared, synchronousCommit } = (await json(
  process.stdin,
)) as Work;
const below = (count: number): number => 1 + Math.floor(Math.random() * count);

/** The script of pgbench, "TPC-B (sort of)". */
const statements = {
  account: 'update pgbench_accounts set abalance = abalance + $1 where aid = $2',
  balance: 'select abalance from pgbench_accounts where aid = $1',
  teller: 'update pgbench_tellers set tbalance = tbalance + $1 where tid = $2',
  branch: 'update pgbench_branches set bbalance = bbalance + $1 where bid = $2',
  history:
    'insert into pgbench_history (tid, bid, aid, delta, mtime) values ($1, $2, $3, $4, current_timestamp)',
};

const run = (client: pg.Client, name: keyof typeof statements, values: readonly number[]) =>
  client.query(
    isPrepared
      ? { name, text: statements[name], values: [...values] }
      : statements[name].replace(/\$(\d)/g, (_, place: string) => `(${values[Number(place) - 1]})`),
  );

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.query(`set search_path = ${schema}; set synchronous_commit = ${synchronousCommit ?? 'on'}`);
  return client;
};

const connections = await Promise.all(Array.from({ length: clients }, connect));
const start = performance.now();
const end = start + seconds * 1000;
const counts = await Promise.all(
  connections.map(async (client) => {
    let transactions = 0;
    for (; performance.now() < end; transactions += 1) {
      const [aid, tid, bid] = [below(scale * 100_000), below(scale * 10), below(scale)];
      const delta = below(10_001) - 5_001;
      await client.query('begin');
      await run(client, 'account', [delta, aid]);
      await run(client, 'balance', [aid]);
      await run(client, 'teller', [delta, tid]);
      await run(client, 'branch', [delta, bid]);
      await run(client, 'history', [tid, bid, aid, delta]);
      await client.query('commit');
    }
    return transactions;
  }),
);
const took = (performance.now() - start) / 1000;
await Promise.all(connections.map((client) => client.end()));
const transactions = counts.reduce((sum, count) => sum + count, 0);
console.log(JSON.stringify({ transactions, transactionsPerSecond: transactions / took }));
