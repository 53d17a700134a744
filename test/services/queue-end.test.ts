// The load queue is lost when every row is loaded and only emptying the queue remains: the run
// still publishes.

import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, type RunEvent } from '../../src/index.ts';
import { openProxy } from '../helpers/fault-proxy.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { hasRedis, startRedis } from '../helpers/redis-server.ts';

const { files, database, rowsOf, run: runIt } = usePipelineRuns();

const pipeline = definePipeline({
  name: 'shop',
  schema: 'shop',
  tables: { sale: { source: csv('sales.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] } },
});

beforeEach(async () => {
  await database.query('drop schema if exists shop, etl cascade');
  files.write('sales.csv', 'id\n1\n2\n3\n');
});

/** A run that neither waits for the queue nor starts over. */
const published = {
  outcome: 'published',
  disturbances: [],
  notices: [
    expect.stringMatching(
      /^the queue of run 1 could not be emptied after loading; nothing is lost: .+/,
    ) as unknown,
  ],
  rows: [{ n: 3 }],
};

const run = async (options: object, hear: (event: RunEvent) => void = () => undefined): Promise<unknown> => {
  const [disturbances, notices]: [string[], string[]] = [[], []];
  const onEvent = (event: RunEvent): void => {
    hear(event);
    if (event.type === 'waiting' || event.type === 'recovered') disturbances.push(event.type);
    if (event.type === 'notice') notices.push(event.message);
  };
  const { outcome } = await runIt(pipeline, { ...options, onEvent });
  return { outcome, disturbances, notices, rows: await rowsOf('select count(*)::int as n from shop.sale') };
};

describe('the queue that a run empties in the end', () => {
  it('is in PostgreSQL, and its session is ended', async () => {
    const proxy = await openProxy(Number(new URL(database.url).port));
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const matches = ({ sql }: { readonly sql: string }): boolean => sql.includes('SELECT obliterate($1');
    proxy.arm({ name: 'emptied again', when: 'before', nth: 2, matches }, async (_, port) => {
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where client_port = ${port}`,
      );
      return 'drop' as const;
    });
    try {
      expect(await run({ databaseUrl: url.href })).toEqual(published);
    } finally {
      await proxy.close();
    }
  });

  it.runIf(hasRedis)('is in a Redis that is killed', async () => {
    const redis = await startRedis();
    let isLoaded = false;
    const relay = createServer((client) => {
      const server = connect(redis.port, '127.0.0.1');
      for (const socket of [client, server]) socket.on('error', () => undefined);
      client.on('close', () => server.destroy());
      server.on('close', () => client.destroy());
      client.on('data', (bytes) => {
        // Only this script of BullMQ has the argument.
        if (isLoaded && bytes.includes('\r\nforce\r\n')) {
          relay.close();
          void redis.signal('SIGKILL');
        } else server.write(bytes);
      });
      server.pipe(client);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    try {
      const url = `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`;
      const ended = await run({ redis: { url } }, ({ type }) => {
        isLoaded ||= type === 'progress';
      });
      expect(ended).toEqual(published);
    } finally {
      relay.close();
      await redis.stop();
    }
  });
});
