// The load queue of a run, idle during a long hook before the load, and lost when every row is
// loaded and only emptying the queue remains: the run publishes without a disturbance.

import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, type RunEvent } from '../../src/index.ts';
import { openProxy } from '../helpers/fault-proxy.ts';
import { withPg } from '../helpers/own-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { hasRedis, startRedis } from '../helpers/redis-server.ts';

const { files, database, rowsOf, run: runIt, startOver } = usePipelineRuns();

beforeEach(async () => {
  await startOver('shop');
  files.write('sales-1.csv', 'id\n1\n2\n');
  files.write('sales-2.csv', 'id\n3\n');
});

/** A run that neither waits for the queue nor starts over. */
const undisturbed = { outcome: 'published', disturbances: [], notices: [], rows: [{ n: 3 }] };
const notEmptied = {
  ...undisturbed,
  notices: [
    expect.stringMatching(
      /^the queue of run 1 could not be emptied after loading; nothing is lost: .+/,
    ) as unknown,
  ],
};

/** Less than the files have together: the run needs its queue. */
const chunkBytes = 4;

interface Given {
  readonly before?: () => Promise<unknown>;
  readonly options?: object;
  readonly hear?: (event: RunEvent) => void;
}

const run = async ({ before, options, hear }: Given): Promise<unknown> => {
  const pipeline = definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      sale: { source: csv('sales-*.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] },
    },
    ...(before && { hooks: { before: () => before().then(() => undefined) } }),
  });
  const [disturbances, notices]: [string[], string[]] = [[], []];
  const onEvent = (event: RunEvent): void => {
    hear?.(event);
    if (event.type === 'waiting' || event.type === 'recovered') disturbances.push(event.type);
    if (event.type === 'notice') notices.push(event.message);
  };
  const { outcome } = await runIt(pipeline, { chunkBytes, ...options, onEvent });
  return { outcome, disturbances, notices, rows: await rowsOf('select count(*)::int as n from shop.sale') };
};

/** Longer than the timeouts of idle connections, which are one second. */
const hookMs = 2_500;

describe('a queue that is idle before the load is not missed, whatever ends its connections', () => {
  it('idle_session_timeout of the database', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`alter database ${name} set idle_session_timeout = '1s'`);
    try {
      const { rows } = await withPg(database.url, (somebody) => somebody.query('show idle_session_timeout'));
      expect(rows).toEqual([{ idle_session_timeout: '1s' }]);
      expect(await run({ before: () => sleep(hookMs) })).toEqual(undisturbed);
    } finally {
      await database.query(`alter database ${name} reset idle_session_timeout`);
    }
  });

  it('somebody, or a pooler, who ends the sessions of the queue', async () => {
    let ended = 0;
    const endAll = async (): Promise<void> => {
      const sessions = await rowsOf(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like '%queue%'`,
      );
      ended = sessions.length;
    };
    expect(await run({ before: endAll })).toEqual(undisturbed);
    expect(ended).toBeGreaterThan(0);
  });

  it.runIf(hasRedis)('timeout of a Redis', async () => {
    const redis = await startRedis({ args: ['--timeout', '1'] });
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(String(await redis.command('info', 'stats')))?.[1]);
    try {
      let again = 0;
      const idle = async (): Promise<void> => {
        const before = await connections();
        await sleep(hookMs);
        // Without our own connection: those that were ended exist again.
        again = (await connections()) - before - 1;
      };
      expect(await run({ before: idle, options: { redis: { url: redis.url } } })).toEqual(undisturbed);
      expect(again).toBeGreaterThan(0);
    } finally {
      await redis.stop();
    }
  });
});

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
      expect(await run({ options: { databaseUrl: url.href } })).toEqual(notEmptied);
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
      const hear = ({ type }: RunEvent): void => void (isLoaded ||= type === 'progress');
      expect(await run({ options: { redis: { url } }, hear })).toEqual(notEmptied);
    } finally {
      relay.close();
      await redis.stop();
    }
  });
});
