// The slowest read of a table while a night of rows is published into it, in every mode that touches only what has changed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { column, csv, definePipeline, range, runPipeline, type Pipeline } from '../src/index.ts';
import { glance, startReader } from './readers.ts';

const columns = {
  id: column.integer('id'),
  at: column.date('at'),
  price: column.integer('price'),
  name: column.text('name'),
};

/** Declarations by the name of what they show. */
const modes = {
  append: { primaryKey: ['id'], publish: 'append' },
  'merge, where rows are': { primaryKey: ['id'], publish: { mode: 'merge', by: 'upsert' } },
  'merge, built again': { primaryKey: ['id'], publish: { mode: 'merge', by: 'rebuild' } },
  history: { primaryKey: ['id'], publish: { mode: 'history', at: 'at' } },
  'partitions, all': { primaryKey: ['id', 'at'], partitionBy: range('at', 'month') },
  'partitions, all, and a view': { primaryKey: ['id', 'at'], partitionBy: range('at', 'month') },
  'partitions, touched': {
    primaryKey: ['id', 'at'],
    partitionBy: range('at', 'month'),
    publish: { mode: 'replace', only: 'touched' },
  },
} as const;

type Mode = keyof typeof modes;

/** Rows that are there, and rows of each night: half of them have keys that are there where a mode takes those. */
const rowsThere = 200_000;
const rowsOfNight = 40_000;

/** Two years of rows first, then a month of them each night. */
const rowsText = (first: number, rows: number, month: number | undefined): string => {
  const lines = Array.from({ length: rows }, (_, index) => {
    const id = first + index;
    const at = new Date(Date.UTC(2022, month ?? id % 24, 1 + (id % 28))).toISOString().slice(0, 10);
    return `${id},${at},${(id * 31 + (month ?? 0)) % 1_000},some text of row ${id}`;
  });
  return `id,at,price,name\n${lines.join('\n')}\n`;
};

const pipelineOf = (mode: Mode, directory: string): Pipeline =>
  definePipeline({
    name: 'stall_modes',
    schema: 'stall_modes',
    tables: { t: { source: csv(join(directory, '*.csv')), columns, ...modes[mode] } as never },
  });

/** Longest read, in milliseconds, while a run published, and in its steps before. */
export interface Stall {
  readonly publish: number;
  readonly before: number;
}

/** Nights of one mode. `ask` runs a statement. */
export const measureMode = async (
  url: string,
  ask: (sql: string) => Promise<unknown>,
  parent: string,
  mode: Mode,
  rounds: number,
): Promise<readonly Stall[]> => {
  const directory = join(parent, mode.replaceAll(/\W+/g, '-'));
  mkdirSync(directory);
  const pipeline = pipelineOf(mode, directory);
  const run = (onPublish?: () => void) =>
    runPipeline(pipeline, {
      databaseUrl: url,
      redis: false,
      onEvent: (event) => {
        if (event.type === 'step' && event.step === 'publish') onPublish?.();
      },
    });
  await ask('drop schema if exists stall_modes cascade');
  writeFileSync(join(directory, '0.csv'), rowsText(0, rowsThere, undefined));
  await run();
  if (mode.endsWith('a view')) await ask('create view stall_modes.v as select * from stall_modes.t');
  const stalls: Stall[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const first = mode === 'append' ? rowsThere + round * rowsOfNight : rowsThere - (round * rowsOfNight) / 2;
    writeFileSync(join(directory, `${round}.csv`), rowsText(first, rowsOfNight, 24 + round));
    const watchers = Array.from({ length: 2 }, () => startReader(url, ['stall_modes.t'], glance));
    let before = 0;
    const ran = run(() => {
      before = Math.max(...watchers.map((watcher) => watcher.forget()));
    });
    const [ended] = await Promise.allSettled([ran]);
    const longest = await Promise.all(watchers.map((watcher) => watcher.stop()));
    if (ended.status === 'rejected') throw ended.reason;
    stalls.push({ publish: Math.max(...longest), before });
  }
  return stalls;
};

export const stallModes = Object.keys(modes) as readonly Mode[];
