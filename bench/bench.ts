// What sluice costs beside psql and plain scripts, on one server, in turns. docs/benchmarks.md says how to read it.
//
//   npm run bench -- --shapes [orders,taxi]     tables as people have them, against psql's scripts for each
//   npm run bench -- --table FILE.ts DATA…      any table of a pipeline, with these files, against the scripts for its columns
//   npm run bench -- --matrix [uuid,boolean]    the decoder alone, type × spelling, against csv-parse and the server's own input
//   npm run bench -- --check                    both, and what a chunk costs: fails if anything is worse than recorded
//   npm run bench -- --smoke                    what holds at any size, on any machine
//   npm run bench [-- --only compressed,nightly]    the parts of one table, down to the decoder alone
//   … --floors                                 with shapes or nights: what the server alone takes, too
//
// A missed target is a result and no failure; rows that differ between two sides are a failure.

import { writeFileSync } from 'node:fs';
import { cpus, platform, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench, type Bench, type BenchOptions } from './bench-context.ts';
import type { PartReport } from './compare.ts';
import { ownTable } from './own-table.ts';
import { measureByMonth } from './parts/by-month.ts';
import { measureChunks } from './parts/chunks.ts';
import { measureCompressed } from './parts/compressed.ts';
import { measureDecoder } from './parts/decoder.ts';
import { measureDistance } from './parts/distance.ts';
import { measureEncoded } from './parts/encoded.ts';
import { measureHistory } from './parts/history.ts';
import { measureHttp } from './parts/http.ts';
import { measureInto } from './parts/into.ts';
import { decodeSpellings, measureMatrix, type Decoded } from './parts/matrix.ts';
import { measureMonths } from './parts/months.ts';
import { mergeParts } from './parts/merge.ts';
import { measureNightly } from './parts/nightly.ts';
import { measureObjects } from './parts/objects.ts';
import { measureQueue } from './parts/queue.ts';
import { measureRefused } from './parts/refused.ts';
import { measureServed } from './parts/served.ts';
import { measureTextRows } from './parts/text-rows.ts';
import { measureScaling } from './parts/scaling.ts';
import { measureShape, measureTable, tableRatios } from './parts/table.ts';
import { peerSides } from './peers.ts';
import { measureStartUp } from './parts/start-up.ts';
import { measureVerbatim } from './parts/verbatim.ts';
import {
  chunkFigures,
  compressedFigures,
  decodedFigures,
  record,
  tableFigures,
  worseThanRecorded,
  type Figure,
} from './recorded.ts';
import { comparedText, matrixText, partText, ratiosText, targetsText } from './report.ts';
import { withServer } from './server.ts';
import { runEtl, shapePath } from './etl.ts';
import { shape as orders } from './shapes/orders.ts';
import { shapes } from './shapes/shapes.ts';
import { judgeTargets, type TargetReport } from './targets.ts';

type Measure = (bench: Bench) => Promise<PartReport>;

const parts: Readonly<Record<string, Measure>> = {
  verbatim: measureVerbatim,
  'by-month': measureByMonth,
  compressed: measureCompressed,
  http: measureHttp,
  encoded: measureEncoded,
  distance: measureDistance,
  nightly: measureNightly,
  months: measureMonths,
  ...mergeParts,
  history: measureHistory,
  into: measureInto,
  'text-rows': measureTextRows,
  scaling: measureScaling,
  objects: measureObjects,
  'start-up': measureStartUp,
  decoder: measureDecoder,
  queue: measureQueue,
  refused: measureRefused,
  served: measureServed,
};

const shapeParts: Readonly<Record<string, Measure>> = Object.fromEntries(
  shapes.map((shape) => [shape.name, (bench: Bench) => measureShape(bench, shape)]),
);

const readCount = (name: string, value: string): number => {
  if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} is a number from 1, not ${value}`);
  return Number(value);
};

/** Names with commas between them; without any, all. */
const readNames = (
  given: string | undefined,
  known: Readonly<Record<string, Measure>>,
): readonly string[] => {
  const names = given?.split(',') ?? Object.keys(known);
  const unknown = names.find((name) => known[name] === undefined);
  if (unknown !== undefined)
    throw new Error(`there is no ${unknown}; there are ${Object.keys(known).join(', ')}`);
  return names;
};

/** Records and rounds of each mode by default. */
const sizes = {
  parts: { records: '2000000', rounds: '5' },
  shapes: { records: '300000', rounds: '5' },
  matrix: { records: '100000', rounds: '5' },
  chunks: { records: '1', rounds: '1' },
  smoke: { records: '10000', rounds: '3' },
  // The records are those of the files.
  table: { records: '1', rounds: '5' },
} as const;

type Mode = keyof typeof sizes;

const readOptions = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      shapes: { type: 'boolean', default: false },
      matrix: { type: 'boolean', default: false },
      chunks: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      records: { type: 'string' },
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      table: { type: 'string' },
      param: { type: 'string', multiple: true, default: [] },
      night: { type: 'string', default: 'orders' },
      wal: { type: 'string', default: 'minimal' },
      large: { type: 'boolean', default: false },
      floors: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const { check, record: isRecording, json, wal, table } = values;
  const named = (['shapes', 'matrix', 'chunks', 'smoke', 'table'] as const).filter((mode) => values[mode]);
  const everything: readonly Mode[] = check || isRecording ? ['shapes', 'matrix', 'chunks'] : ['parts'];
  const chosen = named.length > 0 ? named : everything;
  const names = chosen[0] === 'parts' ? values.only : table === undefined ? positionals[0] : undefined;
  if (names !== undefined && chosen.length > 1)
    throw new Error(`what of ${names}? Name one of ${chosen.join(', ')}`);
  const optionsOf = (mode: Mode): BenchOptions => ({
    records: readCount('records', values.records ?? sizes[mode].records),
    rounds: readCount('rounds', values.rounds ?? sizes[mode].rounds),
    seed: readCount('seed', values.seed),
    large: values.large,
    floors: values.floors,
    night: values.night,
    own:
      table === undefined
        ? undefined
        : {
            pipeline: table,
            table: values.only,
            params: Object.fromEntries(values.param.map((text) => text.split(/=(.*)/s))),
            data: positionals,
          },
  });
  return { chosen, optionsOf, names, check, isRecording, json, wal };
};

const describeMachine = async ({ server, sessions }: Bench) => {
  const [found] = await server.query(
    `select current_setting('server_version') as version, current_setting('wal_level') as wal`,
  );
  return {
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
    postgres: String(found!['version']),
    walLevel: String(found!['wal']),
    psql: sessions.description,
  };
};

const describeFiles = (bench: Bench) =>
  bench
    .datasets()
    .flatMap(({ directory, files }) =>
      files.map(({ path, ...file }) => ({ dataset: basename(directory), name: basename(path), ...file })),
    );

/** What a mode measured, as the JSON has it. */
interface Report {
  readonly parts?: readonly PartReport[];
  readonly targets?: readonly TargetReport[];
  readonly matrix?: readonly Decoded[];
  /** What --check compares with its record. */
  readonly figures?: readonly Figure[];
}

const measureParts = async (
  bench: Bench,
  known: Readonly<Record<string, Measure>>,
  names: string | undefined,
): Promise<readonly PartReport[]> => {
  const reports: PartReport[] = [];
  for (const name of readNames(names, known)) {
    process.stderr.write(`${name}\n`);
    const report = await known[name]!(bench);
    console.log(partText(report));
    reports.push(report);
  }
  return reports;
};

/** Runs once what only the first run on a server does: it makes the bookkeeping. */
const firstRun = async ({ server, dataset }: Bench): Promise<void> => {
  const { directory } = await dataset(2, 2, orders.files);
  await runEtl(server, { pipeline: shapePath('orders'), workers: 2, directory });
};

/** Ratios of tables, and what --check compares of them. */
const ratiosOf = (reports: readonly PartReport[]): Report => {
  const ratios = reports.flatMap((report) => tableRatios(report) ?? []);
  if (ratios.length > 0) console.log(ratiosText(ratios));
  return { parts: reports, figures: tableFigures(ratios) };
};

const chunkCosts = async (bench: Bench): Promise<Report> => {
  const figures = chunkFigures(await measureChunks(bench));
  for (const { name, value } of figures) console.log(`${name}: ${value.toFixed(2)}`);
  return { figures };
};

const modes: Readonly<Record<Mode, (bench: Bench, names?: string) => Promise<Report>>> = {
  parts: async (bench, names) => {
    const reports = await measureParts(bench, parts, names);
    const targets = judgeTargets(reports, bench);
    console.log(targetsText(targets));
    return { parts: reports, targets };
  },
  shapes: async (bench, names) => {
    await firstRun(bench);
    return ratiosOf(await measureParts(bench, shapeParts, names));
  },
  table: async (bench) => {
    await firstRun(bench);
    const job = await ownTable(bench.own!, bench.directory);
    const report = await measureTable(bench, job, await peerSides(bench, job, job.dialect));
    console.log(partText(report));
    // Only a run of five seconds keeps its advice.
    const [said] = await bench.server.query(
      `select text from etl.run, unnest(advice) as text
        where pipeline = '${job.schema}' and text like 'staging:%' order by id desc limit 1`,
    );
    if (said !== undefined) console.log(`  etl said: ${String(said['text'])}`);
    return ratiosOf([report]);
  },
  matrix: async (bench, names = '') => {
    const matrix = await measureMatrix(bench, names.split(','));
    console.log(matrixText(matrix));
    return { matrix, figures: decodedFigures(matrix) };
  },
  chunks: chunkCosts,
  smoke: async (bench, names = '') => {
    const matrix = await decodeSpellings(bench, names.split(','));
    const chunks = await chunkCosts(bench);
    const streams = await measureCompressed(bench);
    console.log(partText(streams));
    const figures = [...decodedFigures(matrix), ...chunks.figures!, ...compressedFigures(streams)];
    return { matrix, figures };
  },
};

const main = async (): Promise<void> => {
  if (platform() !== 'linux')
    throw new Error('the benchmark reads CPU and memory from /proc, which Linux has');
  const { chosen, optionsOf, names, check, isRecording, json, wal } = readOptions();
  await withServer(
    async (server, directory) => {
      const reports: (Report & Readonly<Record<'mode' | 'machine' | 'options' | 'files', unknown>>)[] = [];
      for (const mode of chosen) {
        const options = optionsOf(mode);
        const bench = await openBench(options, server, join(directory, mode));
        const machine = await describeMachine(bench);
        const { cpu, cores, node, postgres, walLevel, psql } = machine;
        console.log(
          `${cores} cores of ${cpu} · Node ${node} · PostgreSQL ${postgres}, wal_level ${walLevel} · ${psql}`,
        );
        const size = mode === 'table' ? '' : `records ${options.records} · seed ${options.seed} · `;
        console.log(`${mode}: ${size}rounds ${options.rounds}`);
        const report = await modes[mode](bench, names);
        reports.push({ mode, machine, options, files: describeFiles(bench), ...report });
      }
      if (json !== undefined) writeFileSync(json, `${JSON.stringify(reports, null, 2)}\n`);
      const figures = reports.flatMap((report) => report.figures ?? []);
      if (isRecording) record(figures);
      if (!check && !chosen.includes('smoke')) return;
      const worse = worseThanRecorded(figures, chosen.includes('smoke') ? 'any' : 'still');
      console.log(comparedText(figures.length, worse));
      if (worse.length > 0) process.exitCode = 1;
    },
    { wal_level: wal },
  );
};

await main();
