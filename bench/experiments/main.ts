// The published measurements of unlogged tables, repeated on your own server. docs/experiments.md says what they show.
//
//   npm run experiments                          all seven in some minutes, on a server of its own
//   npm run experiments -- --only 2,5 --rows 100000
//   npm run experiments -- --full                as large as they were published; needs 40 GB of disk and some hours
//   npm run experiments -- --write               into docs/experiments/, with charts; --out DIR: into another directory
//   DATABASE_URL=… npm run experiments           on your server, in schemas of their own; nothing there is killed
//
// A figure that differs from the published one is a result and no failure; a check that fails is one.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { interruption } from '../interruption.ts';
import { endPrograms } from '../measure.ts';
import { drawCharts } from './charts.ts';
import type { Experiment } from './contract.ts';
import { experiments } from './registry.ts';
import { pageOf, resultText } from './report.ts';
import { describeConditions, merged, pagePath, readResults, resultsPath, type Recorded } from './results.ts';
import { openLab, runExperiment } from './run.ts';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const etl = fileURLToPath(new URL('../../src/cli/etl.mjs', import.meta.url));

const readNumber = (name: string, value: string): number => {
  if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} is a number from 1, not ${value}`);
  return Number(value);
};

const chosen = (only: string | undefined): readonly Experiment[] => {
  if (only === undefined) return experiments;
  const numbers = only.split(',').map((text) => readNumber('only', text));
  const unknown = numbers.find((number) => !experiments.some((one) => one.number === number));
  if (unknown !== undefined)
    throw new Error(`there is no experiment ${unknown}; there are 1 to ${experiments.length}`);
  return experiments.filter(({ number }) => numbers.includes(number));
};

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      rows: { type: 'string' },
      full: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      write: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const { full, rows } = values;
  const target = values.out ?? (values.write ? docs : undefined);
  if (target !== undefined && !values.write && existsSync(pagePath(target)))
    throw new Error(`${pagePath(target)} exists: --write replaces what it says of these experiments`);
  const wanted = chosen(values.only);
  if (target !== undefined) {
    const known = new Set([...readResults(target), ...wanted].map(({ number }) => number));
    if (known.size < experiments.length)
      throw new Error(
        'the page and its charts are made of all experiments: run all of them once, without --only',
      );
  }
  return {
    target,
    isFull: full,
    chosen: wanted,
    rows: rows === undefined ? undefined : readNumber('rows', rows),
    rounds: readNumber('rounds', values.rounds ?? '3'),
    seconds: readNumber('seconds', values.seconds ?? (full ? '60' : '3')),
  };
};

/** Writes the page, its charts and its data; experiments that were not run keep what is there of them. */
const write = (target: string, fresh: readonly Recorded[]): void => {
  const page = pagePath(target);
  const results = merged(readResults(target), fresh);
  mkdirSync(join(target, 'experiments'), { recursive: true });
  writeFileSync(resultsPath(target), `${JSON.stringify(results, null, 2)}\n`);
  const template = readFileSync(existsSync(page) ? page : pagePath(docs), 'utf8');
  writeFileSync(page, pageOf(template, results));
  for (const [name, svg] of Object.entries(drawCharts(results)))
    writeFileSync(join(target, 'experiments', name), svg);
  console.log(`\nWritten to ${page}`);
};

const main = async (): Promise<void> => {
  const { target, isFull, rounds, seconds, chosen: wanted, rows } = readOptions();
  const databaseUrl = process.env['DATABASE_URL'];
  const interrupted = interruption();
  const { lab, close } = await openLab({ databaseUrl, rounds, seconds, isFull, etl });
  const recorded: Recorded[] = [];
  const runAll = async (): Promise<void> => {
    for (const experiment of wanted) {
      const conditions = await describeConditions(lab);
      const size = rows ?? experiment.rows[isFull ? 'full' : 'usual'];
      const result = await runExperiment(lab, experiment, size);
      console.log(resultText(result));
      recorded.push({ ...result, conditions });
    }
  };
  try {
    await Promise.race([runAll(), interrupted]);
  } finally {
    endPrograms();
    await close();
  }
  const failed = recorded.flatMap(({ checks }) => checks.filter(({ outcome }) => outcome === 'fails'));
  const outcome =
    failed.length === 0 ? 'Every check that this server allows holds.' : `${failed.length} checks fail.`;
  console.log(`\n${outcome}`);
  if (failed.length > 0) process.exitCode = 1;
  else if (target !== undefined) write(target, recorded);
};

await main();
