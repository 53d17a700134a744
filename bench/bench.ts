// What sluice costs beside psql and plain scripts, on one server, in turns. docs/benchmarks.md says how to read it.
//
//   npm run bench -- --shapes [orders,taxi]     tables as people have them, against the best psql script for each
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
import { measureLoad } from './parts/load.ts';
import { measureOneFile } from './parts/one-file.ts';
import { measureQueue } from './parts/queue.ts';
import { measureRecordDecoder } from './parts/record-decoder.ts';
import { measureScaling } from './parts/scaling.ts';
import { measureShape, shapeRatios } from './parts/shapes.ts';
import { measureStartUp } from './parts/start-up.ts';
import { measureWholeJob } from './parts/whole-job.ts';
import { partText, shapesText, targetsText } from './report.ts';
import { withServer } from './server.ts';
import { shapes } from './shapes/shapes.ts';
import { judgeTargets } from './targets.ts';

type Measure = (bench: Bench) => Promise<PartReport>;

const parts: Readonly<Record<string, Measure>> = {
  load: measureLoad,
  'whole-job': measureWholeJob,
  'one-file': measureOneFile,
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

const readOptions = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      shapes: { type: 'boolean', default: false },
      records: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      large: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  if (!values.shapes && positionals.length > 0) throw new Error(`what is ${positionals.join(' ')}?`);
  const options: BenchOptions = {
    records: readCount('records', values.records ?? (values.shapes ? '1000000' : '2000000')),
    rounds: readCount('rounds', values.rounds),
    seed: readCount('seed', values.seed),
    large: values.large,
  };
  const known = values.shapes ? shapeParts : parts;
  const names = values.shapes ? readNames(positionals[0], known) : readNames(values.only, known);
  return { options, hasShapes: values.shapes, known, names, json: values.json };
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

const main = async (): Promise<void> => {
  if (platform() !== 'linux')
    throw new Error('the benchmark reads CPU and memory from /proc, which Linux has');
  const { options, hasShapes, known, names, json } = readOptions();
  await withServer(async (server, directory) => {
    const bench = await openBench(options, server, directory);
    const machine = await describeMachine(bench);
    const { cpu, cores, node, postgres, psql } = machine;
    console.log(`${cores} cores of ${cpu} · Node ${node} · PostgreSQL ${postgres} · ${psql}`);
    console.log(`records ${options.records} · rounds ${options.rounds} · seed ${options.seed}`);
    const reports: PartReport[] = [];
    for (const name of names) {
      process.stderr.write(`${name}\n`);
      const report = await known[name]!(bench);
      console.log(partText(report));
      reports.push(report);
    }
    const ratios = hasShapes ? reports.map(shapeRatios) : [];
    const targets = hasShapes ? [] : judgeTargets(reports, options);
    console.log(hasShapes ? shapesText(ratios) : targetsText(targets));
    if (json !== undefined) {
      const report = { machine, options, files: describeFiles(bench), parts: reports, ratios, targets };
      writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
    }
  });
};

await main();
