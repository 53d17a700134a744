// What the parts that put a night to a table have in common: the table as it was, made again before each turn, the records of a night,
// and how scripts and runs begin.

import type { Bench } from './bench-context.ts';
import type { Side } from './compare.ts';
import { pipelinePath, runEtl } from './etl.ts';
import { makeBinaryRows, type BinaryRows } from './floors.ts';
import type { Dataset, FileKind } from './generate.ts';
import type { Usage } from './measure.ts';
import { randomFrom } from './random.ts';
import { scriptOf } from './derive-script.ts';
import type { Night, PsqlScript, Shape } from './shapes/contract.ts';
import { shapes } from './shapes/shapes.ts';
import { dropSchemas, resetScripts, scriptSide, tuned, type Stages } from './sides.ts';
import { scriptSchema } from './sql.ts';

/** Made by runs. */
export const ours = 'bench_nightly.night';
/** Filled by scripts. */
export const theirs = `${scriptSchema}.night`;
export const staged = `${scriptSchema}.staged`;
const base = 'bench_base.night';

export type NightShape = Shape & { readonly night: Night; readonly script: PsqlScript };

/** A shape by its name, which must be one that a night is put to. */
export const nightShape = (name: string): NightShape => {
  const known = shapes.filter(({ night }) => night !== undefined);
  const found = known.find((shape) => shape.name === name);
  if (found !== undefined) return { ...found, night: found.night!, script: scriptOf(found).script };
  throw new Error(`there is no --night ${name}; there are ${known.map((shape) => shape.name).join(', ')}`);
};

const addKey = (table: string, key: readonly string[]): string =>
  `alter table ${table} add constraint night_pkey primary key (${key.join(', ')})`;

/** The table as it was before the night. */
export const remake = (table: string, key: readonly string[]): string => `drop table if exists ${table};
  create table ${table} (like ${base}); insert into ${table} select * from ${base}; ${addKey(table, key)}`;

/** The same rows in the table that a run has made: no other is built again. */
const refill = (key: readonly string[]): string =>
  `truncate ${ours}; alter table ${ours} drop constraint night_pkey;
  insert into ${ours} select * from ${base}; ${addKey(ours, key)}`;

type Publish = 'append' | 'merge' | 'history';

/** Runs the pipeline of the nights: all of the files, or those that are new. */
const runFiles = async (
  { server, night: table }: Bench,
  publish: Publish,
  directory: string,
  files: string,
  isWhole: boolean,
): Promise<Usage> => {
  const params = { table, publish, files };
  const job = { pipeline: pipelinePath('nightly.ts'), params, workers: 2, directory, isWhole };
  return (await runEtl(server, job)).whole;
};

/** Loads the table as it is before the night, and keeps its rows. */
export const loadBase = async (
  bench: Bench,
  publish: Publish,
  directory: string,
  files: string,
): Promise<void> => {
  const { server } = bench;
  await server.query(dropSchemas('bench_nightly'));
  await runFiles(bench, publish, directory, files, true);
  await server.query(`${dropSchemas('bench_base')}; create schema bench_base;
    create table ${base} (like ${ours}); insert into ${base} select * from ${ours}`);
};

/** A run that loads what is new in the directory. */
export const runNight = (bench: Bench, publish: Publish, directory: string, files: string): Promise<Usage> =>
  runFiles(bench, publish, directory, files, false);

/** A script that copies a file into a table of its own, and goes on from there. */
export const stagedScript = ({ script }: NightShape, path: string, statements: readonly string[]): Stages => [
  [
    [
      ...tuned,
      { sql: `create unlogged table ${staged} (${script.loaded})` },
      { copy: staged, options: script.copy, file: path },
      ...statements.map((sql) => ({ sql })),
    ],
  ],
];

/** The same over rows that need no reading: two sessions copy them. */
export const binaryScript = ({ script, paths }: BinaryRows, statements: readonly string[]): Stages => [
  [[{ sql: `create unlogged table ${staged} (${script.loaded})` }]],
  paths.map((path) => [{ copy: staged, options: script.copy, file: path }]),
  [[...tuned, ...statements.map((sql) => ({ sql }))]],
];

/** Name of the side that is the floor of a script. */
export const floorOf = (name: string): string => `floor: binary rows, then as ${name}`;

const rowsIn = ({ rowsOf = (name) => `select * from ${name}` }: NightTable, table: string): string =>
  rowsOf(table);

/** A side of a script that puts records to the table as it was. */
export const nightScriptSide = (bench: Bench, name: string, table: NightTable, stages: Stages): Side => ({
  ...scriptSide(bench, name, table, stages, { rows: rowsIn(table, theirs) }, remake(theirs, table.key)),
  leave: resetScripts,
  vacuumed: theirs,
});

/** Records of the table's first files, of which so many differ, a tenth of those by a new key. */
export const changedFiles = (
  bench: Bench,
  { files, night }: NightShape,
  nameEnd: string,
  records: number,
  differing: number,
): Promise<Dataset> => {
  const kind: FileKind = {
    ...files,
    nameEnd,
    lines: function* (seed) {
      const random = randomFrom(seed + 1);
      const differ = (line: string): string => {
        if (random() >= differing) return line;
        return random() < 0.1 ? night.renew(line, random) : night.change(line);
      };
      const source = files.lines(seed);
      for (;;) yield source.next().value.map(differ);
    },
  };
  return bench.dataset(records, 1, kind);
};

/** Scripts by the names of their sides. */
export const byName = <Key extends string>(
  names: Readonly<Record<Key, string>>,
  scripts: Readonly<Record<Key, readonly string[]>>,
): ChangingNight['scripts'] =>
  Object.fromEntries(Object.keys(names).map((key) => [names[key as Key], scripts[key as Key]]));

/** The table of a night, whatever fills it. */
interface NightTable {
  readonly records: number;
  readonly key: readonly string[];
  /** What two sides must have in common, in SQL; by default all rows. */
  readonly rowsOf?: (table: string) => string;
}

/** A night that changes rows of the table, and how scripts and a run take it. */
export interface ChangingNight extends Required<NightTable> {
  readonly shape: NightShape;
  readonly publish: 'merge' | 'history';
  readonly night: Dataset;
  /** How the names of the night's files end. */
  readonly nameEnd: string;
  /** Statements by the name of their side, once the records are staged. */
  readonly scripts: Readonly<Record<string, readonly string[]>>;
  /** Names of the scripts whose floors are measured: the fastest ones. */
  readonly fastest: readonly string[];
  /** Name of the side that is a run. */
  readonly etl: string;
}

/** The sides of such a night: each finds the table as it was. */
export const changingSides = async (bench: Bench, changing: ChangingNight): Promise<readonly Side[]> => {
  const { shape, publish, night, records, nameEnd, key, rowsOf, scripts, fastest, etl } = changing;
  const statementsOf = (name: string): readonly string[] => [`analyze ${staged}`, ...scripts[name]!];
  const binary = bench.floors ? await makeBinaryRows(bench, shape.script, night) : undefined;
  return [
    ...Object.keys(scripts).map((name) =>
      nightScriptSide(bench, name, changing, stagedScript(shape, night.files[0]!.path, statementsOf(name))),
    ),
    {
      name: etl,
      records,
      run: () => runNight(bench, publish, night.directory, `*${nameEnd}`),
      results: { rows: rowsOf(ours) },
      reset: `${refill(key)}; delete from etl.published_file where name like '%${nameEnd}'`,
      leave: `truncate ${ours}`,
      vacuumed: ours,
    },
    ...(binary === undefined ? [] : fastest).map((name) =>
      nightScriptSide(bench, floorOf(name), changing, binaryScript(binary!, statementsOf(name))),
    ),
  ];
};
