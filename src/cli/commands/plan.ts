// `etl plan <pipeline>`: what a run would do, prepared on the server, without doing it.

import type { Command } from 'commander';
import { exitCodes } from '../../core/errors/errors.ts';
import { chunkBytesMax, workersMax } from '../../core/limits.ts';
import { EndWith, type CliCommand } from '../command.ts';
import {
  allowShrinkFlag,
  filesFlag,
  flag,
  paramFlag,
  parseCount,
  parseNames,
  readFlag,
  readPairs,
  readSwitch,
  readTexts,
} from '../flags.ts';
import { widthOf, type Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { databaseUrlFlag, findServer } from '../server.ts';
import { paintFor } from '../paint.ts';
import { planLines } from '../text/plan-text.ts';
import { visibleJson } from '../../core/wording.ts';

const examples = `
It changes nothing. SQL files, keys, indexes, constraints and data tests are tried on the server against empty tables, and rolled
back; no row of production is read for that, and no reader waits.
Exit codes: 0 whether or not there is anything to do; with --exit-code, 5 if there is. If the run would be refused: its exit code.

Examples:
  $ etl plan pipelines/noaa.ts
  $ etl plan pipelines/noaa.ts --full-refresh
  $ etl plan pipelines/sales.ts --reload in/2024-05-01.csv
  $ etl plan pipelines/noaa.ts --json | jq '.tables[] | {table, strategy: .publishing.strategy}'
  $ etl plan pipelines/noaa.ts --exit-code; [ $? -eq 5 ] && etl run pipelines/noaa.ts`;

const readOptions = (command: Command, io: Io) => ({
  workers: readFlag(command, 'workers', parseCount(workersMax), io),
  params: readPairs(command, 'param', io),
  chunkBytes: readFlag(command, 'chunkBytes', parseCount(chunkBytesMax), io),
  fresh: readSwitch(command, 'fresh', io),
  fullRefresh: readSwitch(command, 'fullRefresh', io),
  reload: readTexts(command, 'reload', io),
  unload: readTexts(command, 'unload', io),
  allowShrink: readFlag(command, 'allowShrink', parseNames, io) ?? [],
  workingDirectory: io.workingDirectory,
});

const printPlan = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const saysChanges = readSwitch(command, 'exitCode', io);
  const options = readOptions(command, io);
  const { pipeline, directory } = await loadPipeline(file, io);
  const { makePlan } = await import('../../tools/make-plan.ts');
  const { plan, error } = await makePlan(pipeline, { ...options, directory }, () => findServer(command, io));
  const lines = json ? [visibleJson(plan)] : planLines(plan, widthOf(io.stdout), paintFor(io.stdout, io.env));
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  if (error !== undefined) throw error;
  if (saysChanges && plan.outcome !== 'nothing') throw new EndWith(exitCodes.changes);
};

export const planCommand: CliCommand = {
  name: 'plan',
  register(program, io) {
    program
      .command('plan')
      .summary('show what a run would do, and why')
      .description('Shows what a run would do with each file and table, and why, without doing it.')
      .addArgument(pipelineArgument())
      .addOption(databaseUrlFlag())
      .addOption(paramFlag())
      .addOption(flag('--fresh', 'as if an unfinished run were abandoned'))
      .addOption(flag('--full-refresh', 'as if everything were loaded again'))
      .addOption(filesFlag('reload', 'as if this file were loaded again'))
      .addOption(filesFlag('unload', 'as if the rows of this file were taken out of production'))
      .addOption(allowShrinkFlag())
      .addOption(flag('--workers <n>', 'number of parallel loads; default: the number of cores'))
      .addOption(flag('--chunk-bytes <n>', 'source bytes per transaction; default: 33554432'))
      .addOption(flag('--exit-code', 'exit with 5 if the run would change something'))
      .addOption(flag('--json', 'print the plan as one line of JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => printPlan(file, command, io));
  },
};
