// Tables as people have them: for each shape, sluice against the best psql script for it.
//
// Two scripts compete on each table, and the faster one counts. Neither checks its records.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { runEtl, shapePath } from '../etl.ts';
import type { Dataset } from '../generate.ts';
import { measured, type Usage } from '../measure.ts';
import type { Session } from '../psql.ts';
import type { PsqlScript, Shape } from '../shapes/contract.ts';
import { dropSchemas, resetScripts, tuned } from '../sides.ts';
import { scriptSchema } from '../sql.ts';

const shapeSides = {
  unlogged: 'psql, unlogged, then CREATE TABLE AS',
  inserts: 'psql, unlogged, then two INSERT … SELECT',
  logged: 'psql, straight into the logged table',
  etl: 'etl, 2 workers',
  unstaged: "etl, 2 workers, staging: 'none'",
} as const;

/** Ratios of one shape: what sluice takes ÷ what the best script takes. */
export interface ShapeRatios {
  readonly shape: string;
  /** Seconds of the load alone. */
  readonly load: number;
  /** Seconds of everything. */
  readonly whole: number;
  /** The same with `staging: 'none'`. */
  readonly unstaged: number;
  /** CPU of client and server for everything: what other programs on the machine change least. */
  readonly cpu: number;
}

const table = `${scriptSchema}.made`;
const loaded = (index: number): string => `${scriptSchema}.loaded${index}`;

const finish = ({ finish: statements }: PsqlScript): Session =>
  [...statements.map((sql) => sql.replace('$', table)), `analyze ${table}`].map((sql) => ({ sql }));

/** What a session begins with. */
const begin = ({ settings }: PsqlScript): Session => [
  ...tuned,
  ...(settings === undefined ? [] : [{ sql: settings }]),
];

type Stages = readonly (readonly Session[])[];

/** Each file into a table of its own; `freeze` in the transaction that makes it spares the next reader some work. */
const loadUnlogged = (script: PsqlScript, { files }: Dataset): Stages => [
  files.map(({ path }, index) => [
    ...begin(script),
    { sql: 'begin' },
    { sql: `create unlogged table ${loaded(index)} (${script.loaded})` },
    { copy: loaded(index), options: `${script.copy}, freeze`, file: path },
    { sql: 'commit' },
  ]),
];

const rowsOf = ({ casts = '*' }: PsqlScript, index: number): string =>
  `select ${casts} from ${loaded(index)}`;

/** One statement, with parallel workers. */
const makeTable = (script: PsqlScript, { files }: Dataset): Stages => {
  const rows = files.map((_, index) => rowsOf(script, index));
  const make = { sql: `create table ${table} as ${rows.join(' union all ')}` };
  return [[[...begin(script), make, ...finish(script)]]];
};

/** Two sessions side by side. */
const insertRows = (script: PsqlScript, { files }: Dataset): Stages => [
  [[{ sql: `create table ${table} as ${rowsOf(script, 0)} with no data` }]],
  files.map((_, index) => [...begin(script), { sql: `insert into ${table} ${rowsOf(script, index)}` }]),
  [[...begin(script), ...finish(script)]],
];

const loadLogged = (script: PsqlScript, { files }: Dataset): Stages => [
  [[{ sql: `create table ${table} (${script.loaded})` }]],
  files.map(({ path }) => [...begin(script), { copy: table, options: script.copy, file: path }]),
];

const scriptSide = (
  { server, sessions }: Bench,
  name: string,
  { records }: Dataset,
  load: Stages,
  rest: Stages,
): Side => ({
  name,
  records,
  run: async () => {
    let seconds = 0;
    const usage = await measured(server.pid, async () => {
      const start = performance.now();
      await sessions.run(load);
      seconds = (performance.now() - start) / 1000;
      await sessions.run(rest);
    });
    return { ...usage, steps: { load: seconds, rest: usage.seconds - seconds } };
  },
  results: { rows: `select * from ${table}` },
  reset: resetScripts,
});

const etlSide = (
  { server }: Bench,
  { name }: Shape,
  { directory, records }: Dataset,
  staging: 'typed' | 'none',
): Side => ({
  name: staging === 'none' ? shapeSides.unstaged : shapeSides.etl,
  records,
  run: async () =>
    (await runEtl(server, { pipeline: shapePath(name), params: { staging }, workers: 2, directory })).whole,
  results: { rows: `select * from bench_${name}.${name}` },
  reset: dropSchemas(`bench_${name}`),
});

const sidesOf = (bench: Bench, shape: Shape, dataset: Dataset): readonly Side[] => {
  const { script } = shape;
  const side = (name: string, load: Stages, rest: Stages): Side =>
    scriptSide(bench, name, dataset, load, rest);
  const load = loadUnlogged(script, dataset);
  return [
    side(shapeSides.unlogged, load, makeTable(script, dataset)),
    script.casts === undefined
      ? side(shapeSides.logged, loadLogged(script, dataset), [[[...begin(script), ...finish(script)]]])
      : side(shapeSides.inserts, load, insertRows(script, dataset)),
    etlSide(bench, shape, dataset, 'typed'),
    etlSide(bench, shape, dataset, 'none'),
  ];
};

export const measureShape = async (bench: Bench, shape: Shape): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2, shape.files);
  return {
    part: shape.name,
    title: `${shape.name}: ${shape.title}`,
    sides: await compare(bench.server, sidesOf(bench, shape, dataset), bench.rounds),
  };
};

export const shapeRatios = ({ part, sides }: PartReport): ShapeRatios => {
  const isOurs = ({ name }: { name: string }): boolean =>
    name === shapeSides.etl || name === shapeSides.unstaged;
  const scripts = sides.filter((side) => !isOurs(side));
  const medianOf = (wanted: string): Usage => sides.find(({ name }) => name === wanted)!.median;
  const etl = medianOf(shapeSides.etl);
  const least = (values: readonly number[]): number => Math.min(...values);
  const cpuOf = ({ clientSeconds, serverSeconds }: Usage): number => clientSeconds + serverSeconds;
  const wholeScript = least(scripts.map(({ median }) => median.seconds));
  return {
    shape: part,
    load: etl.steps!['load']! / least(scripts.map(({ median }) => median.steps!['load']!)),
    whole: etl.seconds / wholeScript,
    unstaged: medianOf(shapeSides.unstaged).seconds / wholeScript,
    cpu: cpuOf(etl) / least(scripts.map(({ median }) => cpuOf(median))),
  };
};
