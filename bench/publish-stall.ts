// For how long publishing makes readers wait: the slowest read of a published table while a run takes its place.
//
//   npm run bench:stall [-- --tables 1,10,400 --rounds 3 --distance 20]
//   npm run bench:stall -- --modes              tables that stay: append, merge, history, partitions
//   npm run bench:stall -- --modes --only 400   of these, those whose name has that
//
// docs/benchmarks.md, "Readers while tables are published", says how to read it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { column, csv, definePipeline, runPipeline } from '../src/index.ts';
import { openDistance } from './distance.ts';
import { startReader, type Reading } from './readers.ts';
import { withServer } from './server.ts';
import { measureCase, stallCases } from './stall-modes.ts';

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
  const names = Array.from({ length: tables }, (_, place) => `stall.t${place}`);
  const readers = others.map((read) => startReader(url, names, read));
  const watchers = Array.from({ length: 2 }, () => startReader(url, names, 'glance'));
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
    modes: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

const milliseconds = (times: readonly number[]): string => `${times.map(Math.round).join(', ')} ms`;

await withServer(async ({ url, query: ask }, directory) => {
  if (values.modes) {
    for (const name of stallCases.filter((known) => known.includes(values.only))) {
      const stalls = await measureCase(url, ask, directory, name, Number(values.rounds));
      const [publish, before] = (['publish', 'before'] as const).map((when) =>
        stalls.map((one) => one[when]),
      );
      console.log(`${name}: ${milliseconds(publish!)}; in the steps before: ${milliseconds(before!)}`);
    }
    return;
  }
  writeFileSync(join(directory, 't.csv'), 'id,name\n1,Ulm\n2,Trier\n');
  const distant = await openDistance(url, Number(values.distance));
  for (const tables of values.tables.split(',').map(Number)) {
    await ask(
      `create schema stall; ${Array.from(
        { length: tables },
        (_, place) => `create table stall.t${place} (id integer primary key, name text not null)`,
      ).join(';')}`,
    );
    const queries = ['query', 'query', 'query'] as const;
    const cases: readonly { name: string; others: readonly Reading[]; runUrl: string }[] = [
      { name: 'nobody else', others: [], runUrl: url },
      { name: 'queries of 5 ms', others: queries, runUrl: url },
      { name: `the same, ${values.distance} ms away`, others: queries, runUrl: distant.url },
      { name: 'and transactions of 1 s', others: [...queries, 'transaction', 'transaction'], runUrl: url },
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
