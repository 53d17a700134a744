// What sluice costs beside psql and plain scripts, on one server, in turns. docs/benchmarks.md says how to read it.
//
//   npm run bench [-- --rows 2000000 --rounds 5 --seed 1 --only load,whole-job --large --json bench.json]
//
// A missed target is a result and no failure; rows that differ between two sides are a failure.

import { writeFileSync } from 'node:fs';
import { cpus, platform, totalmem } from 'node:os';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench, type Bench, type BenchOptions } from './bench-context.ts';
import type { PartReport } from './compare.ts';
import { buildEtl } from './etl.ts';
import { measureDecoder } from './parts/decoder.ts';
import { measureLoad } from './parts/load.ts';
import { measureOneFile } from './parts/one-file.ts';
import { measureQueue } from './parts/queue.ts';
import { measureRecordDecoder } from './parts/record-decoder.ts';
import { measureScaling } from './parts/scaling.ts';
import { measureStartUp } from './parts/start-up.ts';
import { measureWholeJob } from './parts/whole-job.ts';
import { partText, targetsText } from './report.ts';
import { withServer } from './server.ts';
import { judgeTargets } from './targets.ts';

const parts: Readonly<Record<string, (bench: Bench) => Promise<PartReport>>> = {
  load: measureLoad,
  'whole-job': measureWholeJob,
  'one-file': measureOneFile,
  'record-decoder': measureRecordDecoder,
  scaling: measureScaling,
  'start-up': measureStartUp,
  decoder: measureDecoder,
  queue: measureQueue,
};

const readCount = (name: string, value: string): number => {
  if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} is a number from 1, not ${value}`);
  return Number(value);
};

const readOptions = (): BenchOptions & { readonly only: readonly string[]; readonly json?: string } => {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '2000000' },
      rounds: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: Object.keys(parts).join(',') },
      large: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const only = values.only.split(',');
  const unknown = only.find((name) => parts[name] === undefined);
  if (unknown !== undefined)
    throw new Error(`there is no part ${unknown}; there are ${Object.keys(parts).join(', ')}`);
  return {
    rows: readCount('rows', values.rows),
    rounds: readCount('rounds', values.rounds),
    seed: readCount('seed', values.seed),
    large: values.large,
    only,
    json: values.json,
  };
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
  const { only, json, ...options } = readOptions();
  buildEtl();
  await withServer(async (server, directory) => {
    const bench = await openBench(options, server, directory);
    const machine = await describeMachine(bench);
    const { cpu, cores, node, postgres, psql } = machine;
    console.log(`${cores} cores of ${cpu} · Node ${node} · PostgreSQL ${postgres} · ${psql}`);
    console.log(`rows ${options.rows} · rounds ${options.rounds} · seed ${options.seed}`);
    const reports: PartReport[] = [];
    for (const name of only) {
      process.stderr.write(`${name}\n`);
      const report = await parts[name]!(bench);
      console.log(partText(report));
      reports.push(report);
    }
    const targets = judgeTargets(reports, options);
    console.log(targetsText(targets));
    if (json !== undefined) {
      const report = { machine, options, files: describeFiles(bench), parts: reports, targets };
      writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
    }
  });
};

await main();
