// What sluice costs beside psql and plain scripts, on one server, in turns. docs/benchmarks.md says how to read it.
//
//   npm run bench -- --shapes [orders,taxi]     tables as people have them, against the best psql script for each
//   npm run bench -- --matrix [uuid,boolean]    the decoder alone, type × spelling, against csv-parse and the server's own input
//   npm run bench [-- --only load,whole-job]    the parts of one table, down to the decoder alone
//
// A missed target is a result and no failure; rows that differ between two sides are a failure.

import { writeFileSync } from 'node:fs';
import { cpus, platform, totalmem } from 'node:os';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench, type Bench, type BenchOptions } from './bench-context.ts';
import type { PartReport } from './compare.ts';
import { measureDecoder } from './parts/decoder.ts';
import { measureDistance } from './parts/distance.ts';
import { measureLoad } from './parts/load.ts';
import { measureMatrix, type Cell } from './parts/matrix.ts';
import { measureOneFile } from './parts/one-file.ts';
import { measureQueue } from './parts/queue.ts';
import { measureRecordDecoder } from './parts/record-decoder.ts';
import { measureScaling } from './parts/scaling.ts';
import { measureShape, shapeRatios, type ShapeRatios } from './parts/shapes.ts';
import { measureStartUp } from './parts/start-up.ts';
import { measureWholeJob } from './parts/whole-job.ts';
import { matrixText, partText, shapesText, targetsText } from './report.ts';
import { withServer } from './server.ts';
import { shapes } from './shapes/shapes.ts';
import { judgeTargets, type TargetReport } from './targets.ts';

type Measure = (bench: Bench) => Promise<PartReport>;

const parts: Readonly<Record<string, Measure>> = {
  load: measureLoad,
  'whole-job': measureWholeJob,
  'one-file': measureOneFile,
  distance: measureDistance,
  'record-decoder': measureRecordDecoder,
  scaling: measureScaling,
  'start-up': measureStartUp,
  decoder: measureDecoder,
  queue: measureQueue,
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

/** Records of each mode unless told otherwise. */
const recordsOf = { parts: '2000000', shapes: '1000000', matrix: '100000' } as const;

const readOptions = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      shapes: { type: 'boolean', default: false },
      matrix: { type: 'boolean', default: false },
      records: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      large: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const mode = values.shapes ? 'shapes' : values.matrix ? 'matrix' : 'parts';
  if (mode === 'parts' && positionals.length > 0) throw new Error(`what is ${positionals.join(' ')}?`);
  const options: BenchOptions = {
    records: readCount('records', values.records ?? recordsOf[mode]),
    rounds: readCount('rounds', values.rounds),
    seed: readCount('seed', values.seed),
    large: values.large,
  };
  return {
    mode,
    options,
    names: mode === 'parts' ? values.only : positionals[0],
    json: values.json,
  } as const;
};

const describeMachine = async ({ server, sessions }: Bench) => {
  const [found] = await server.query('show server_version');
  return {
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
    postgres: String(found!['server_version']),
    psql: sessions.description,
  };
};

const describeFiles = (bench: Bench) =>
  bench
    .datasets()
    .flatMap(({ directory, files }) =>
      files.map(({ path, ...file }) => ({ dataset: basename(directory), name: basename(path), ...file })),
    );

/** What was measured, as it stands in the JSON. */
interface Report {
  readonly parts?: readonly PartReport[];
  readonly ratios?: readonly ShapeRatios[];
  readonly targets?: readonly TargetReport[];
  readonly matrix?: readonly Cell[];
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

const modes: Readonly<Record<keyof typeof recordsOf, (bench: Bench, names?: string) => Promise<Report>>> = {
  parts: async (bench, names) => {
    const reports = await measureParts(bench, parts, names);
    const targets = judgeTargets(reports, bench);
    console.log(targetsText(targets));
    return { parts: reports, targets };
  },
  shapes: async (bench, names) => {
    const reports = await measureParts(bench, shapeParts, names);
    const ratios = reports.map(shapeRatios);
    console.log(shapesText(ratios));
    return { parts: reports, ratios };
  },
  matrix: async (bench, names = '') => {
    const matrix = await measureMatrix(bench, names.split(','));
    console.log(matrixText(matrix));
    return { matrix };
  },
};

const main = async (): Promise<void> => {
  if (platform() !== 'linux')
    throw new Error('the benchmark reads CPU and memory from /proc, which Linux has');
  const { mode, options, names, json } = readOptions();
  await withServer(async (server, directory) => {
    const bench = await openBench(options, server, directory);
    const machine = await describeMachine(bench);
    const { cpu, cores, node, postgres, psql } = machine;
    console.log(`${cores} cores of ${cpu} · Node ${node} · PostgreSQL ${postgres} · ${psql}`);
    console.log(`records ${options.records} · rounds ${options.rounds} · seed ${options.seed}`);
    const report = await modes[mode](bench, names);
    if (json !== undefined)
      writeFileSync(
        json,
        `${JSON.stringify({ machine, options, files: describeFiles(bench), ...report }, null, 2)}\n`,
      );
  });
};

await main();
