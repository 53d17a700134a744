// A table's files loaded by sluice and by psql's scripts, like with like: staged against staged, and straight into the logged table
// against the same. No script checks its records.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { scriptOf, specOf } from '../derive-script.ts';
import { runEtl, shapePath } from '../etl.ts';
import { makeBinaryRows, type LoadedFiles } from '../floors.ts';
import { measured, type Usage } from '../measure.ts';
import type { Session } from '../psql.ts';
import type { PsqlScript, Shape } from '../shapes/contract.ts';
import { dropSchemas, resetScripts, sessionStart, type Stages } from '../sides.ts';
import { scriptSchema } from '../sql.ts';
import { quoteName, quoteNames } from '../../src/db/sql.ts';

/** What is loaded, and by which pipeline. */
export interface TableJob extends LoadedFiles {
  readonly name: string;
  readonly title: string;
  /** Path of the pipeline, whose parameter `staging` is 'typed' or 'none'. */
  readonly pipeline: string;
  /** Schema of the table that the pipeline makes, whose name is `name`. */
  readonly schema: string;
  readonly columns: readonly string[];
  /** Number of fields of a record. */
  readonly fields: number;
  /** Undefined: psql has no script for the table. */
  readonly script: PsqlScript | undefined;
}

const sideNames = {
  stagedScript: 'psql, unlogged, then CREATE TABLE AS',
  staged: 'etl, 2 workers',
  directScript: 'psql, straight into the logged table',
  insertsScript: 'psql, unlogged, then two INSERT … SELECT',
  direct: "etl, 2 workers, staging: 'none'",
  stagedFloor: 'floor: binary rows, unlogged, then CREATE TABLE AS',
  directFloor: 'floor: binary rows, straight into the logged table',
} as const;

export const scriptTable = `${scriptSchema}.made`;
const loaded = (index: number): string => `${scriptSchema}.loaded${index}`;

const finish = ({ finish: statements }: PsqlScript): Session =>
  [...statements.map((sql) => sql.replace('$', scriptTable)), `analyze ${scriptTable}`].map((sql) => ({
    sql,
  }));

export const finishAlone = (script: PsqlScript): Stages => [[[...sessionStart(script), ...finish(script)]]];

export const createLogged = ({ loaded: columns }: PsqlScript): Stages => [
  [[{ sql: `create table ${scriptTable} (${columns})` }]],
];

/** Two sessions at most, each with every second file. */
const groupsOf = (paths: readonly string[]): readonly (readonly string[])[] =>
  [0, 1].map((half) => paths.filter((_, index) => index % 2 === half)).filter(({ length }) => length > 0);

/** Each session into a table of its own; `freeze` in the transaction that makes it spares the next reader some work. */
const loadUnlogged = (script: PsqlScript, paths: readonly string[]): Stages => [
  groupsOf(paths).map((group, index) => [
    ...sessionStart(script),
    { sql: 'begin' },
    { sql: `create unlogged table ${loaded(index)} (${script.loaded})` },
    ...group.map((file) => ({ copy: loaded(index), options: `${script.copy}, freeze`, file })),
    { sql: 'commit' },
  ]),
];

const rowsOf = ({ casts = '*' }: PsqlScript, index: number): string =>
  `select ${casts} from ${loaded(index)}`;

/** One statement, with parallel workers. */
const makeTable = (script: PsqlScript, paths: readonly string[]): Stages => {
  const rows = groupsOf(paths).map((_, index) => rowsOf(script, index));
  const make = { sql: `create table ${scriptTable} as ${rows.join(' union all ')}` };
  return [[[...sessionStart(script), make, ...finish(script)]]];
};

/** Two sessions side by side. */
const insertRows = (script: PsqlScript, paths: readonly string[]): Stages => [
  [[{ sql: `create table ${scriptTable} as ${rowsOf(script, 0)} with no data` }]],
  groupsOf(paths).map((_, index) => [
    ...sessionStart(script),
    { sql: `insert into ${scriptTable} ${rowsOf(script, index)}` },
  ]),
  ...finishAlone(script),
];

const loadLogged = (script: PsqlScript, paths: readonly string[]): Stages => [
  ...createLogged(script),
  groupsOf(paths).map((group) => [
    ...sessionStart(script),
    ...group.map((file) => ({ copy: scriptTable, options: script.copy, file })),
  ]),
];

/** What the rows are compared by. */
const resultsOf = (table: string, { columns }: TableJob): Side['results'] => ({
  rows: `select ${quoteNames(columns)} from ${table}`,
});

/** A side that fills the table of the scripts. */
export const scriptTableSide = (
  { server }: Bench,
  job: TableJob,
  name: string,
  like: string,
  load: () => Promise<unknown>,
  rest: () => Promise<unknown>,
): Side => ({
  name,
  like,
  run: async () => {
    let seconds = 0;
    const usage = await measured(server.pid, async () => {
      const start = performance.now();
      await load();
      seconds = (performance.now() - start) / 1000;
      await rest();
    });
    return { ...usage, steps: { load: seconds, rest: usage.seconds - seconds } };
  },
  results: resultsOf(scriptTable, job),
  reset: resetScripts,
});

const etlSide = ({ server }: Bench, job: TableJob, staging: 'typed' | 'none', like: string): Side => ({
  name: staging === 'none' ? sideNames.direct : sideNames.staged,
  like,
  run: async () => {
    const { pipeline, directory } = job;
    return (await runEtl(server, { pipeline, params: { staging }, workers: 2, directory })).whole;
  },
  results: resultsOf(quoteName(job.schema, job.name), job),
  reset: dropSchemas(job.schema),
});

/** The script that fills the logged table: casts need another table first. */
const directName = ({ script }: TableJob): string =>
  script?.casts === undefined ? sideNames.directScript : sideNames.insertsScript;

const scriptSides = (
  bench: Bench,
  job: TableJob,
  { script, paths }: { readonly script: PsqlScript; readonly paths: readonly string[] },
  isFloor: boolean,
): readonly Side[] => {
  const side = (name: string, like: string, load: Stages, rest: Stages): Side =>
    scriptTableSide(
      bench,
      job,
      name,
      like,
      () => bench.sessions.run(load),
      () => bench.sessions.run(rest),
    );
  const [staged, direct] = isFloor
    ? [sideNames.stagedFloor, sideNames.directFloor]
    : [sideNames.stagedScript, directName(job)];
  const load = loadUnlogged(script, paths);
  return [
    side(staged, sideNames.stagedScript, load, makeTable(script, paths)),
    script.casts === undefined
      ? side(direct, directName(job), loadLogged(script, paths), finishAlone(script))
      : side(direct, directName(job), load, insertRows(script, paths)),
  ];
};

/** The script that fills the logged table. */
export const directScript = (bench: Bench, job: TableJob): Side => {
  const paths = job.files.map(({ path }) => path);
  return scriptSides(bench, job, { script: job.script!, paths }, false)[1]!;
};

const sidesOf = async (bench: Bench, job: TableJob): Promise<readonly Side[]> => {
  const { script } = job;
  const paths = job.files.map(({ path }) => path);
  const etl = [
    etlSide(bench, job, 'typed', script === undefined ? sideNames.staged : sideNames.stagedScript),
    etlSide(bench, job, 'none', script === undefined ? sideNames.staged : directName(job)),
  ];
  if (script === undefined) return etl;
  const [staged, direct] = scriptSides(bench, job, { script, paths }, false);
  const floors = bench.floors ? scriptSides(bench, job, await makeBinaryRows(bench, script, job), true) : [];
  return [staged!, etl[0]!, direct!, etl[1]!, ...floors];
};

/** @param others more sides, which are compared with the script that fills the logged table. */
export const measureTable = async (
  bench: Bench,
  job: TableJob,
  others: readonly Side[] = [],
): Promise<PartReport> => ({
  part: job.name,
  title: `${job.name}: ${job.title}`,
  fields: job.fields,
  sides: await compare(bench.server, [...(await sidesOf(bench, job)), ...others], bench.rounds),
});

export const measureShape = async (bench: Bench, shape: Shape): Promise<PartReport> => {
  const { name, title, files: kind } = shape;
  const { directory, files } = await bench.dataset(bench.records, 2, kind);
  const { columns } = specOf(shape.pipeline);
  const { script, fields } = scriptOf(shape);
  return measureTable(bench, {
    name,
    title,
    pipeline: shapePath(name),
    schema: `bench_${name}`,
    columns: columns.map((column) => column.name),
    fields,
    directory,
    files,
    script,
  });
};

/** Ratios of one table, like with like: what sluice takes ÷ what the script takes. */
export interface TableRatios {
  readonly table: string;
  /** Seconds of the load alone, staged. */
  readonly load: number;
  /** Seconds of everything, staged. */
  readonly staged: number;
  /** Seconds of everything, straight into the logged table. */
  readonly direct: number;
  /** CPU of client and server for everything, staged: what other programs on the machine change least. */
  readonly cpu: number;
  /** The same by the least that the server takes (`--floors`). */
  readonly floors?: { readonly load: number; readonly staged: number; readonly direct: number };
}

/** Undefined where psql has no script for the table. */
export const tableRatios = ({ part, sides }: PartReport): TableRatios | undefined => {
  const usageOf = (wanted: string): Usage | undefined => sides.find(({ name }) => name === wanted)?.median;
  const stagedScript = usageOf(sideNames.stagedScript);
  if (stagedScript === undefined) return undefined;
  const straight = (usageOf(sideNames.directScript) ?? usageOf(sideNames.insertsScript))!;
  const cpuOf = ({ clientSeconds, serverSeconds }: Usage): number => clientSeconds + serverSeconds;
  const ratios = (staged: Usage, direct: Usage) => ({
    load: staged.steps!['load']! / stagedScript.steps!['load']!,
    staged: staged.seconds / stagedScript.seconds,
    direct: direct.seconds / straight.seconds,
  });
  const etl = usageOf(sideNames.staged)!;
  const floor = usageOf(sideNames.stagedFloor);
  return {
    table: part,
    ...ratios(etl, usageOf(sideNames.direct)!),
    cpu: cpuOf(etl) / cpuOf(stagedScript),
    ...(floor !== undefined && { floors: ratios(floor, usageOf(sideNames.directFloor)!) }),
  };
};
