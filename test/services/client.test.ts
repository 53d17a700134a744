// A client keeps its connections from call to call, opens new ones after a loss, and closes them.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { column, createClient, csv, definePipeline, enqueue, queueState, schedule } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace } from '../helpers/workers.ts';

const { directory } = useFiles();
const pipeline = definePipeline({
  name: 'kept',
  schema: 'kept',
  tables: { t: { source: csv(join(directory, 'a.csv')), columns: { id: column.integer('id') } } },
});

describe.each(queueKinds)('a client, with its queue in $kind', ({ kind }) => {
  const database = useDatabase();
  const site = usePlace(kind, database);
  const { place } = site;
  const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  const sessions = async (): Promise<readonly number[]> =>
    (await database.query(`select pid ${others} order by pid`)).rows.map(({ pid }) => pid);
  /** Each question to Redis is a connection, too. */
  const redisConnections = async (): Promise<number> => {
    const text = String(await site.redisCommand?.('info', 'stats'));
    return Number(/total_connections_received:(\d+)/.exec(text)?.[1] ?? 0);
  };
  const ownConnections = kind === 'Redis' ? 1 : 0;

  it('connects once for many calls', async () => {
    const client = createClient(place());
    const { job } = await enqueue(pipeline, { client });
    await queueState({ client });
    const before = await sessions();
    const connections = await redisConnections();
    for (let count = 0; count < 5; count += 1) await enqueue(pipeline, { client });
    expect(await queueState({ client })).toMatchObject({ waiting: 6 });
    expect((await schedule.list({ client })).length).toBe(0);
    expect(await sessions()).toEqual(before);
    expect(await redisConnections()).toBe(connections + ownConnections);
    expect(job).toMatch(/^run-/);
    await client.close();
    await until(async () => (await sessions()).length === 0);
  });

  it('several calls at once use it, too', async () => {
    const client = createClient(place());
    const all = await Promise.all(Array.from({ length: 8 }, () => enqueue(pipeline, { client })));
    expect(new Set(all.map(({ job }) => job)).size).toBe(8);
    await client.close();
    await until(async () => (await sessions()).length === 0);
  });

  it('opens other connections after a loss, and reads the queue as it is', async () => {
    const client = createClient(place());
    await enqueue(pipeline, { client, dedupe: 'once' });
    await database.query(`select pg_terminate_backend(pid) ${others}`);
    await site.redisCommand?.('client', 'kill', 'type', 'normal');
    await until(async () => (await sessions()).length === 0);
    // A loss that nobody has noticed yet fails one call.
    await enqueue(pipeline, { client, dedupe: 'once' }).catch(() => undefined);
    expect((await enqueue(pipeline, { client, dedupe: 'once' })).isNew).toBe(false);
    await client.close();
  });

  it('is refused beside another server or queue', async () => {
    const client = createClient(place());
    expect(await failureOf(enqueue(pipeline, { ...place(), client }))).toMatchObject({ code: 'ETL_USAGE' });
    const other = { close: () => Promise.resolve() };
    expect(await failureOf(enqueue(pipeline, { client: other }))).toMatchObject({ code: 'ETL_USAGE' });
    await client.close();
  });
});
