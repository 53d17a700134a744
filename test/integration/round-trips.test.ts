// How often a run waits for an answer of the server: what a distant server costs.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import {
  column,
  createClient,
  csv,
  definePipeline,
  enqueue,
  runPipeline,
  type EnqueueOptions,
} from '../../src/index.ts';

const database = useDatabase();
const files = useFiles();
const pipeline = definePipeline({
  name: 'small',
  schema: 'small',
  tables: {
    item: {
      source: csv(`${files.directory}/item.csv`),
      columns: { id: column.integer('id'), name: column.text('name') },
      primaryKey: ['id'],
    },
  },
});
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await openProxy(Number(new URL(database.url).port));
});
afterAll(() => proxy.close());

const urlOfProxy = (): string => {
  const url = new URL(database.url);
  url.port = String(proxy.port);
  return url.href;
};

const tripsOf = async (outcome: 'published' | 'unchanged'): Promise<number> => {
  const before = proxy.roundTrips();
  const begin = performance.now();
  let end = 0;
  const result = await runPipeline(pipeline, {
    databaseUrl: urlOfProxy(),
    directory: files.directory,
    onEvent: ({ type }) => void (type === 'finished' && (end = performance.now())),
  });
  expect(result.outcome).toBe(outcome);
  const inSteps = result.steps.reduce((sum, { seconds }) => sum + seconds, 0);
  // No time of the call is in no step.
  expect(Math.abs(inSteps / ((end - begin) / 1000) - 1)).toBeLessThan(0.02);
  expect(inSteps).toBeCloseTo(result.seconds, 9);
  return proxy.roundTrips() - before;
};

// Answers come late, as from a distant server: otherwise, one may come while the next query is being sent.
it('a first run, a run of two records, and a run with nothing to do', async () => {
  proxy.delayAnswers(60);
  files.write('item.csv', 'id,name\n1,a\n2,b\n');
  expect(await tripsOf('published')).toBeLessThanOrEqual(70);
  expect(await tripsOf('unchanged')).toBeLessThanOrEqual(9);
  files.write('item.csv', 'id,name\n1,a\n2,c\n');
  expect(await tripsOf('published')).toBeLessThanOrEqual(25);
}, 60_000);

it('a run of forty tables', async () => {
  proxy.delayAnswers(20);
  const names = Array.from({ length: 40 }, (_, place) => `t${place}`);
  for (const name of names) files.write(`${name}.csv`, 'id\n1\n2\n');
  const tables = Object.fromEntries(
    names.map((name) => [
      name,
      {
        source: csv(`${files.directory}/${name}.csv`),
        columns: { id: column.integer('id') },
        primaryKey: ['id'] as const,
      },
    ]),
  );
  const before = proxy.roundTrips();
  const { outcome } = await runPipeline(definePipeline({ name: 'forty', schema: 'forty', tables }), {
    databaseUrl: urlOfProxy(),
    directory: files.directory,
    workers: 4,
  });
  expect(outcome).toBe('published');
  // Seven for each in the rehearsal, one after the other, and the rest over five connections at once.
  expect(proxy.roundTrips() - before).toBeLessThanOrEqual(640);
}, 60_000);

it('a run that is put on the queue', async () => {
  proxy.delayAnswers(20);
  const { directory } = files;
  const databaseUrl = urlOfProxy();
  const tripsWith = async (options: EnqueueOptions): Promise<number> => {
    await enqueue(pipeline, { ...options, directory });
    const before = proxy.roundTrips();
    await enqueue(pipeline, { ...options, directory });
    return proxy.roundTrips() - before;
  };
  expect(await tripsWith({ databaseUrl })).toBeLessThanOrEqual(17);
  const client = createClient({ databaseUrl });
  expect(await tripsWith({ client })).toBe(1);
  await client.close();
}, 60_000);
