// The slowest read of a table while a night of rows is published into it, in every mode that touches only what has changed, and into
// hundreds of partitions.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { column, csv, definePipeline, range, runPipeline, type Pipeline } from '../src/index.ts';
import { startReader } from './readers.ts';

const columns = {
  id: column.integer('id'),
  at: column.date('at'),
  price: column.integer('price'),
  name: column.text('name'),
};

/** What is published, and into what. */
interface Case {
  readonly declared: object;
  /** So many days, with twenty rows of each file; by default, the rows of two years, and each night those of a month. */
  readonly days?: number;
  /** Run once the table is there: what others make on it. */
  readonly byHand?: string;
}

const byMonth = { primaryKey: ['id', 'at'], partitionBy: range('at', 'month') } as const;
const byDay = { primaryKey: ['id', 'at'], partitionBy: range('at', 'day') } as const;
const touched = { publish: { mode: 'replace', only: 'touched' } } as const;
const view = 'create view stall_modes.v as select * from stall_modes.t';
const foreignKey = `create table stall_modes.known (price integer primary key);
  insert into stall_modes.known select generate_series(0, 999);
  alter table stall_modes.t add foreign key (price) references stall_modes.known`;
const constraints = `${foreignKey}; alter table stall_modes.t add check (price >= 0), add unique (at, price, id)`;

/** By the name of what they show. */
const cases = {
  append: { declared: { primaryKey: ['id'], publish: 'append' } },
  'merge, where rows are': { declared: { primaryKey: ['id'], publish: { mode: 'merge', by: 'upsert' } } },
  'merge, built again': { declared: { primaryKey: ['id'], publish: { mode: 'merge', by: 'rebuild' } } },
  history: { declared: { primaryKey: ['id'], publish: { mode: 'history', at: 'at' } } },
  'partitions, all': { declared: byMonth },
  'partitions, all, and a view': { declared: byMonth, byHand: view },
  'partitions, touched': { declared: { ...byMonth, ...touched } },
  '400 partitions, all, and a view': { declared: byDay, days: 400, byHand: view },
  '400 partitions, all, and a foreign key': { declared: byDay, days: 400, byHand: foreignKey },
  '400 partitions, all, a foreign key, a check, a unique constraint': {
    declared: byDay,
    days: 400,
    byHand: constraints,
  },
} satisfies Readonly<Record<string, Case>>;

export type StallCase = keyof typeof cases;

/** Rows that are there, and rows of each night: half of them have keys that are there where a mode takes those. */
const rowsThere = 200_000;
const rowsOfNight = 40_000;
const rowsOfDay = 20;

const linesOf = (first: number, rows: number, month: number, atOf: (id: number) => number): string => {
  const lines = Array.from({ length: rows }, (_, index) => {
    const id = first + index;
    const at = new Date(atOf(id)).toISOString().slice(0, 10);
    return `${id},${at},${(id * 31 + month) % 1_000},some text of row ${id}`;
  });
  return `id,at,price,name\n${lines.join('\n')}\n`;
};

/** The rows that are there (night 0), or those of a night: a month of its own, or some for every day. */
const nightText = (name: StallCase, night: number): string => {
  const { days }: Case = cases[name];
  if (days !== undefined)
    return linesOf(night * days * rowsOfDay, days * rowsOfDay, 0, (id) => Date.UTC(2022, 0, 1 + (id % days)));
  if (night === 0) return linesOf(0, rowsThere, 0, (id) => Date.UTC(2022, id % 24, 1 + (id % 28)));
  const first = name === 'append' ? rowsThere + night * rowsOfNight : rowsThere - (night * rowsOfNight) / 2;
  return linesOf(first, rowsOfNight, 24 + night, (id) => Date.UTC(2022, 24 + night, 1 + (id % 28)));
};

const pipelineOf = (name: StallCase, directory: string): Pipeline =>
  definePipeline({
    name: 'stall_modes',
    schema: 'stall_modes',
    tables: { t: { source: csv(join(directory, '*.csv')), columns, ...cases[name].declared } as never },
  });

/** Longest read, in milliseconds, while a run published, and in its steps before. */
export interface Stall {
  readonly publish: number;
  readonly before: number;
}

/** Nights of one case. `ask` runs a statement. */
export const measureCase = async (
  url: string,
  ask: (sql: string) => Promise<unknown>,
  parent: string,
  name: StallCase,
  rounds: number,
): Promise<readonly Stall[]> => {
  const directory = join(parent, name.replaceAll(/\W+/g, '-'));
  mkdirSync(directory);
  const pipeline = pipelineOf(name, directory);
  const run = (onPublish?: () => void) =>
    runPipeline(pipeline, {
      databaseUrl: url,
      redis: false,
      onEvent: (event) => {
        if (event.type === 'step' && event.step === 'publish') onPublish?.();
      },
    });
  await ask('drop schema if exists stall_modes cascade');
  writeFileSync(join(directory, '0.csv'), nightText(name, 0));
  await run();
  const { byHand }: Case = cases[name];
  if (byHand !== undefined) await ask(byHand);
  const stalls: Stall[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    writeFileSync(join(directory, `${round}.csv`), nightText(name, round));
    const watchers = Array.from({ length: 2 }, () => startReader(url, ['stall_modes.t'], 'glance'));
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

export const stallCases = Object.keys(cases) as readonly StallCase[];
