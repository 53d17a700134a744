// What a night costs of a table with many partitions: no question for each of them, and no row read of those that it does not touch.

import { beforeEach, expect, it } from 'vitest';
import { column, csv, definePipeline, list } from '../../src/index.ts';
import { effectsOf } from '../helpers/fault-proxy.ts';
import { until } from '../helpers/workers.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, rowsOf, run, startOver } = usePipelineRuns();

beforeEach(() => startOver('many'));

/** A file of rows: one of each of these parts. */
const write = (name: string, first: number, parts: readonly number[]): string =>
  files.write(`in/${name}.csv`, `id,part\n${parts.map((part) => `${first + part},${part}\n`).join('')}`);

const night = (publish: unknown, databaseUrl = database.url) => {
  const pipeline = definePipeline({
    name: 'many',
    schema: 'many',
    tables: {
      t: {
        source: csv('in/*.csv'),
        columns: { id: column.integer('id'), part: column.integer('part') },
        primaryKey: ['id', 'part'],
        partitionBy: list('part'),
        publish: publish as 'append',
        guard: false,
      },
    },
  });
  return run(pipeline, { databaseUrl });
};

/** How often a night says each statement, numbers aside. */
const statementsOf = async (publish: unknown): Promise<ReadonlyMap<string, number>> => {
  const said = new Map<string, number>();
  for (const { sql } of await effectsOf(database.url, (url) => night(publish, url))) {
    const text = sql.replaceAll(/\d+/g, '0');
    said.set(text, (said.get(text) ?? 0) + 1);
  }
  return said;
};

const partsTo = (count: number): number[] => Array.from({ length: count }, (_, part) => part);

it.each([
  ['append', 'append'],
  ['merge', 'merge'],
  ["only: 'touched'", { mode: 'replace', only: 'touched' }],
])('%s asks as much of thirty partitions as of two', async (_, publish) => {
  const said: ReadonlyMap<string, number>[] = [];
  for (const count of [2, 30]) {
    await startOver('many');
    write('0', 0, partsTo(count));
    write('1', 100, [1]);
    await night(publish);
    // One that has changed, and one that is new: rows of the first are looked for in all partitions.
    if (typeof publish === 'object') write('1', 200, [1]);
    write('2', 300, [0, 1]);
    said.push(await statementsOf(publish));
  }
  const [few, many] = said;
  // Polls come as often as they come; there are 28 partitions more.
  const asked = [...many!].filter(([text, times]) => times - (few!.get(text) ?? 0) >= 14);
  expect(asked).toEqual([]);
});

it("only: 'touched' reads no row of partitions that it does not touch", async () => {
  const sessions = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  const read = async () => {
    // A session tells what it has read before it is gone.
    await until(async () => (await rowsOf(sessions)).length === 0);
    return Object.fromEntries(
      (
        await rowsOf(`select relname as name, pg_stat_get_tuples_returned(oid)::int + pg_stat_get_tuples_fetched(oid)::int as rows
          from pg_class where relnamespace = 'many'::regnamespace and relkind = 'r'`)
      ).map(({ name, rows }) => [name, rows]),
    );
  };
  const touched = { mode: 'replace', only: 'touched' };
  write('0', 0, partsTo(6));
  await night(touched);
  const before = await read();
  write('2', 300, [0, 1]);
  await night(touched);
  const after = await read();
  expect(Object.keys(after)).toHaveLength(6);
  for (const part of [2, 3, 4, 5]) expect(after[`t_${part}`]).toBe(before[`t_${part}`]);
});
