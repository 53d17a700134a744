// Tables as people have them: for each shape, sluice against the best psql script for it.
//
// Two scripts are known to be fastest, each on some tables; the faster one counts. Neither checks its records.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { runEtl, shapePath } from '../etl.ts';
import type { Dataset } from '../generate.ts';
import { measured } from '../measure.ts';
import type { Session } from '../psql.ts';
import type { PsqlScript, Shape } from '../shapes/contract.ts';
import { dropSchemas, resetScripts, tuned } from '../sides.ts';
import { scriptSchema } from '../sql.ts';

const shapeSides = {
  unlogged: 'psql, unlogged, then CREATE TABLE AS',
  logged: 'psql, straight into the logged table',
  etl: 'etl, 2 workers',
} as const;

/** Two ratios of one shape: what sluice takes ÷ what the best script takes. */
export interface ShapeRatios {
  readonly shape: string;
  readonly load: number;
  readonly whole: number;
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

const makeTable = (script: PsqlScript, { files }: Dataset): Stages => {
  const rows = files.map((_, index) => `select ${script.casts ?? '*'} from ${loaded(index)}`);
  const make = { sql: `create table ${table} as ${rows.join(' union all ')}` };
  return [[[...begin(script), make, ...finish(script)]]];
};

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

const etlSide = ({ server }: Bench, { name }: Shape, { directory, records }: Dataset): Side => ({
  name: shapeSides.etl,
  records,
  run: async () => (await runEtl(server, { pipeline: shapePath(name), workers: 2, directory })).whole,
  results: { rows: `select * from bench_${name}.${name}` },
  reset: dropSchemas(`bench_${name}`),
});

const sidesOf = (bench: Bench, shape: Shape, dataset: Dataset): readonly Side[] => {
  const { script } = shape;
  const unlogged = scriptSide(
    bench,
    shapeSides.unlogged,
    dataset,
    loadUnlogged(script, dataset),
    makeTable(script, dataset),
  );
  const logged = scriptSide(bench, shapeSides.logged, dataset, loadLogged(script, dataset), [
    [[...begin(script), ...finish(script)]],
  ]);
  return [unlogged, ...(script.casts === undefined ? [logged] : []), etlSide(bench, shape, dataset)];
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
  const scripts = sides.filter(({ name }) => name !== shapeSides.etl);
  const { median: etl } = sides.find(({ name }) => name === shapeSides.etl)!;
  const least = (seconds: readonly number[]): number => Math.min(...seconds);
  return {
    shape: part,
    load: etl.steps!['load']! / least(scripts.map(({ median }) => median.steps!['load']!)),
    whole: etl.seconds / least(scripts.map(({ median }) => median.seconds)),
  };
};
