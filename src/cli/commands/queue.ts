// `etl queue`, `etl cancel <run>`, `etl retry <run>`: the state of the queue of runs, and operations on one run.

import type { Command, Option } from 'commander';
import type { CliCommand } from '../command.ts';
import type { QueueDepth } from '../../queue/run-queue-state.ts';
import {
  allowShrinkFlag,
  flag,
  parseNames,
  parseRunId,
  parseString,
  readFlag,
  readSwitch,
} from '../flags.ts';
import type { Io } from '../io.ts';
import { paintFor } from '../paint.ts';
import { readRedis, redisPrefixFlag } from '../redis.ts';
import { databaseUrlFlag, openServer } from '../server.ts';
import { tracingFlag, withTracing } from '../tracing.ts';
import { visibleJson } from '../../core/wording.ts';

const print = (command: Command, io: Io, data: object, text: string): void => {
  io.stdout.write(`${readSwitch(command, 'json', io) ? visibleJson(data) : text}\n`);
};

const depthText = ({ waiting, delayed, active, failed, oldestAt }: QueueDepth): string => {
  const oldest = oldestAt === null ? '' : `; the oldest since ${oldestAt.toISOString()}`;
  return `${waiting} waiting, ${delayed} later, ${active} active, ${failed} failed${oldest}`;
};

const showQueue = async (command: Command, io: Io): Promise<void> => {
  const { queueState } = await import('../../worker/enqueue.ts');
  const queue = readFlag(command, 'queue', parseString, io);
  const { config: connection } = await openServer(command, io);
  const redis = await readRedis(command, io);
  const state = await queueState({ connection, ...redis, ...(queue !== undefined && { queue }) });
  const { queues } = state;
  const text =
    queues.length === 1
      ? depthText(queues[0]!)
      : queues.map((each) => `${each.queue}: ${depthText(each)}`).join('\n');
  const { failureLines } = await import('../text/status-text.ts');
  const failed = failureLines(state.failures, paintFor(io.stdout, io.env));
  print(command, io, state, [text, ...failed].join('\n'));
};

const cancelOne = async (run: number, command: Command, io: Io): Promise<void> => {
  const { cancel } = await import('../../worker/enqueue.ts');
  const redis = await readRedis(command, io);
  await cancel(run, { connection: (await openServer(command, io)).config, ...redis });
  print(
    command,
    io,
    { run, state: 'cancelled' },
    `Cancelled run ${run}; its processes stop at the next chunk or step`,
  );
};

const retryOne = async (run: number, command: Command, io: Io): Promise<void> => {
  const { retry } = await import('../../worker/enqueue.ts');
  const allowShrink = readFlag(command, 'allowShrink', parseNames, io) ?? [];
  const { config: connection } = await openServer(command, io);
  const options = { connection, allowShrink, ...(await readRedis(command, io)) };
  const added = await withTracing(command, io, (tracing) => retry(run, { ...options, ...tracing }));
  print(
    command,
    io,
    { run, ...added },
    `Enqueued run ${run} again as ${added.job}; it continues where it stopped`,
  );
};

const withCommonFlags = (command: Command): Command =>
  command
    .addOption(databaseUrlFlag())
    .addOption(redisPrefixFlag())
    .addOption(flag('--json', 'print JSON'))
    .addOption(flag('--debug', 'print stack traces and causes of errors'));

const onRun = (
  name: string,
  summary: string,
  description: string,
  act: (run: number, command: Command, io: Io) => Promise<void>,
  flags: () => readonly Option[] = () => [],
): CliCommand => ({
  name,
  register(program, io) {
    const own = program.command(name).summary(summary).description(description);
    for (const option of flags()) own.addOption(option);
    withCommonFlags(own)
      .argument('<run>', 'number of a run')
      .addHelpText('after', `\nExamples:\n  $ etl ${name} 12\n  $ etl ${name} 12 --json`)
      .action((run: string, _, command: Command) => act(parseRunId(run)!, command, io));
  },
});

export const cancelCommand = onRun(
  'cancel',
  'stop a run, on any machine',
  'Stops a run on any machine, at the next chunk or step; nothing is published.',
  cancelOne,
);

export const retryCommand = onRun(
  'retry',
  'enqueue a run that failed or was cancelled',
  'Puts a run that failed or was cancelled on the queue again; it continues where it stopped.',
  retryOne,
  () => [allowShrinkFlag(), tracingFlag()],
);

export const queueCommand: CliCommand = {
  name: 'queue',
  register(program, io) {
    withCommonFlags(
      program
        .command('queue')
        .summary('show how many runs are waiting, and since when')
        .description('Shows how many enqueued runs are waiting, active or failed.'),
    )
      .addOption(flag('--queue <name>', 'one queue; default: all queues'))
      .addHelpText('after', '\nExamples:\n  $ etl queue\n  $ etl queue --json | jq .waiting')
      .action((_, command: Command) => showQueue(command, io));
  },
};
