// `etl enqueue <pipeline>`: puts a run on the queue for a worker.

import type { Command } from 'commander';
import { runPriorityMax } from '../../core/limits.ts';
import type { CliCommand } from '../command.ts';
import {
  allowShrinkFlag,
  flag,
  parseCount,
  parseMoment,
  parseNames,
  parseString,
  readFlag,
  readPairs,
  readSwitch,
  paramFlag,
} from '../flags.ts';
import type { Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { readRedis, redisPrefixFlag } from '../redis.ts';
import { databaseUrlFlag, openServer } from '../server.ts';
import { tracingFlag, withTracing } from '../tracing.ts';
import { visibleJson } from '../../core/wording.ts';

const examples = `
The queue holds the pipeline's name, parameters and definition hash: the worker's definition must be the same.

Examples:
  $ etl enqueue noaa                        as well as pipelines/noaa.ts
  $ etl enqueue pipelines/noaa.ts --param year=2011 --at 2026-05-01T03:00:00Z
  $ etl enqueue pipelines/noaa.ts --dedupe noaa      unless a run with this key waits or runs
  $ etl enqueue pipelines/noaa.ts --json | jq -r .job`;

const put = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const at = readFlag(command, 'at', parseMoment, io);
  const priority = readFlag(command, 'priority', parseCount(runPriorityMax), io);
  const dedupe = readFlag(command, 'dedupe', parseString, io);
  const allowShrink = readFlag(command, 'allowShrink', parseNames, io);
  const queue = readFlag(command, 'queue', parseString, io);
  const { pipeline, directory } = await loadPipeline(file, io);
  const { enqueue } = await import('../../worker/enqueue.ts');
  const options = {
    connection: (await openServer(command, io)).config,
    ...(await readRedis(command, io)),
    directory,
    params,
    fresh: readSwitch(command, 'fresh', io),
    fullRefresh: readSwitch(command, 'fullRefresh', io),
    ...(at !== undefined && { at }),
    ...(priority !== undefined && { priority }),
    ...(dedupe !== undefined && { dedupe }),
    ...(allowShrink !== undefined && { allowShrink }),
    ...(queue !== undefined && { queue }),
  };
  const added = await withTracing(command, io, (tracing) => enqueue(pipeline, { ...options, ...tracing }));
  const { job, isNew } = added;
  const text = isNew
    ? `Enqueued ${pipeline.name} as ${job}`
    : `A run with the key ${dedupe} is already waiting or running: ${job}`;
  io.stdout.write(`${json ? visibleJson({ ...added, pipeline: pipeline.name }) : text}\n`);
};

export const enqueueCommand: CliCommand = {
  name: 'enqueue',
  register(program, io) {
    program
      .command('enqueue')
      .summary('put a run on the queue for a worker')
      .description('Puts a run of a pipeline on the queue for a worker.')
      .addArgument(pipelineArgument())
      .addOption(databaseUrlFlag())
      .addOption(redisPrefixFlag())
      .addOption(paramFlag())
      .addOption(flag('--at <time>', 'earliest start, in ISO 8601; default: now'))
      .addOption(flag('--priority <n>', '1 is the highest; runs without a priority come before all of these'))
      .addOption(flag('--dedupe <key>', 'add no run while one with this key waits or runs'))
      .addOption(flag('--queue <name>', 'queue to use; default: default'))
      .addOption(flag('--fresh', 'abandon an unfinished run of this pipeline instead of continuing it'))
      .addOption(flag('--full-refresh', 'load everything again, even if nothing has changed'))
      .addOption(allowShrinkFlag())
      .addOption(tracingFlag())
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => put(file, command, io));
  },
};
