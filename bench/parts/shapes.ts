// Tables as people have them: for each shape, sluice against the best psql script for it.
//
// Two scripts compete on each table, and the faster one counts. Neither checks its records.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { runEtl, shapePath } from '../etl.ts';
import { makeBinaryRows } from '../floors.ts';
import type { Dataset } from '../generate.ts';
import { measured, type Usage } from '../measure.ts';
import type { Session } from '../psql.ts';
import type { PsqlScript, Shape } from '../shapes/contract.ts';
import { dropSchemas, resetScripts, sessionStart, type Stages } from '../sides.ts';
import { scriptSchema } from '../sql.ts';

const shapeSides = {
  unlogged: 'psql, unlogged, then CREATE TABLE AS',
  inserts: 'psql, unlogged, then two INSERT … SELECT',
  logged: 'psql, straight into the logged table',
  etl: 'etl, 2 workers',
  unstaged: "etl, 2 workers, staging: 'none'",
  staged: 'floor: binary rows, unlogged, then CREATE TABLE AS',
  straight: 'floor: binary rows, straight into the logged table',
} as const;

const scriptNames: ReadonlySet<string> = new Set([
  shapeSides.unlogged,
  shapeSides.inserts,
  shapeSides.logged,
]);

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
  /** The same of the load and of everything, by the least that the server takes (`--floors`). */
  readonly floors?: { readonly load: number; readonly whole: number };
}

const table = `${scriptSchema}.made`;
const loaded = (index: number): string => `${scriptSchema}.loaded${index}`;

const finish = ({ finish: statements }: PsqlScript): Session =>
  [...statements.map((sql) => sql.replace('$', table)), `analyze ${table}`].map((sql) => ({ sql }));

const finishAlone = (script: PsqlScript): Stages => [[[...sessionStart(script), ...finish(script)]]];

/** Each file into a table of its own; `freeze` in the transaction that makes it spares the next reader some work. */
const loadUnlogged = (script: PsqlScript, paths: readonly string[]): Stages => [
  paths.map((path, index) => [
    ...sessionStart(script),
    { sql: 'begin' },
    { sql: `create unlogged table ${loaded(index)} (${script.loaded})` },
    { copy: loaded(index), options: `${script.copy}, freeze`, file: path },
    { sql: 'commit' },
  ]),
];

const rowsOf = ({ casts = '*' }: PsqlScript, index: number): string =>
  `select ${casts} from ${loaded(index)}`;

/** One statement, with parallel workers. */
const makeTable = (script: PsqlScript, paths: readonly string[]): Stages => {
  const rows = paths.map((_, index) => rowsOf(script, index));
  const make = { sql: `create table ${table} as ${rows.join(' union all ')}` };
  return [[[...sessionStart(script), make, ...finish(script)]]];
};

/** Two sessions side by side. */
const insertRows = (script: PsqlScript, paths: readonly string[]): Stages => [
  [[{ sql: `create table ${table} as ${rowsOf(script, 0)} with no data` }]],
  paths.map((_, index) => [
    ...sessionStart(script),
    { sql: `insert into ${table} ${rowsOf(script, index)}` },
  ]),
  ...finishAlone(script),
];

const loadLogged = (script: PsqlScript, paths: readonly string[]): Stages => [
  [[{ sql: `create table ${table} (${script.loaded})` }]],
  paths.map((path) => [...sessionStart(script), { copy: table, options: script.copy, file: path }]),
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

/** Sides of psql: where the server reads the fields itself, it can do so straight into the table. */
const scriptSides = (bench: Bench, { script }: Shape, dataset: Dataset): readonly Side[] => {
  const paths = dataset.files.map(({ path }) => path);
  const side = (name: string, load: Stages, rest: Stages): Side =>
    scriptSide(bench, name, dataset, load, rest);
  const load = loadUnlogged(script, paths);
  return [
    side(shapeSides.unlogged, load, makeTable(script, paths)),
    script.casts === undefined
      ? side(shapeSides.logged, loadLogged(script, paths), finishAlone(script))
      : side(shapeSides.inserts, load, insertRows(script, paths)),
  ];
};

/** The same work of psql over rows that need no reading. */
const floorSides = async (bench: Bench, shape: Shape, dataset: Dataset): Promise<readonly Side[]> => {
  const { script, paths } = await makeBinaryRows(bench, shape, dataset);
  return [
    scriptSide(bench, shapeSides.staged, dataset, loadUnlogged(script, paths), makeTable(script, paths)),
    scriptSide(bench, shapeSides.straight, dataset, loadLogged(script, paths), finishAlone(script)),
  ];
};

const sidesOf = async (bench: Bench, shape: Shape, dataset: Dataset): Promise<readonly Side[]> => [
  ...scriptSides(bench, shape, dataset),
  etlSide(bench, shape, dataset, 'typed'),
  etlSide(bench, shape, dataset, 'none'),
  ...(bench.floors ? await floorSides(bench, shape, dataset) : []),
];

export const measureShape = async (bench: Bench, shape: Shape): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2, shape.files);
  return {
    part: shape.name,
    title: `${shape.name}: ${shape.title}`,
    sides: await compare(bench.server, await sidesOf(bench, shape, dataset), bench.rounds),
  };
};

const least = (values: readonly number[]): number => Math.min(...values);

export const shapeRatios = ({ part, sides }: PartReport): ShapeRatios => {
  const scripts = sides.filter(({ name }) => scriptNames.has(name));
  const usageOf = (wanted: string): Usage | undefined => sides.find(({ name }) => name === wanted)?.median;
  const etl = usageOf(shapeSides.etl)!;
  const [staged, straight] = [usageOf(shapeSides.staged), usageOf(shapeSides.straight)];
  const loadOf = ({ steps }: Usage): number => steps!['load']!;
  const cpuOf = ({ clientSeconds, serverSeconds }: Usage): number => clientSeconds + serverSeconds;
  const loadScript = least(scripts.map(({ median }) => loadOf(median)));
  const wholeScript = least(scripts.map(({ median }) => median.seconds));
  return {
    shape: part,
    load: loadOf(etl) / loadScript,
    whole: etl.seconds / wholeScript,
    unstaged: usageOf(shapeSides.unstaged)!.seconds / wholeScript,
    cpu: cpuOf(etl) / least(scripts.map(({ median }) => cpuOf(median))),
    ...(staged !== undefined &&
      straight !== undefined && {
        floors: {
          load: loadOf(staged) / loadScript,
          whole: least([staged.seconds, straight.seconds]) / wholeScript,
        },
      }),
  };
};
