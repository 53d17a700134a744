// `etl runs` and `etl show`: lists earlier runs with filters, and shows one in detail.

import type { Command } from 'commander';
import { runsListed } from '../../core/limits.ts';
import type { ShownState } from '../../ledger/history/history.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseChoice, parseCount, parseRunId, parseSince, parseString, readFlag } from '../flags.ts';
import type { Io } from '../io.ts';
import { printRun, printRuns } from '../runs.ts';
import { databaseUrlFlag } from '../server.ts';

/** As many as anybody reads; a program that wants more asks the table itself. */
const runsMax = 10_000;

const states: readonly ShownState[] = ['running', 'published', 'failed', 'stopped', 'cancelled'];

const runsExamples = `
Runs under way come first, then those that ended last. "(process gone)" after a state means that the run's process was killed.

Examples:
  $ etl runs --pipeline noaa --since 7d
  $ etl runs --state failed --since 2026-05-01
  $ etl runs --pipeline noaa --state published --limit 1 --json | jq '.[0].finishedAt'`;

const showExamples = `
Examples:
  $ etl show 12
  $ etl show 12 --json | jq '.tables[] | {table, rows}'
  $ etl show 12 --json | jq -r '.notices[].text'`;

const list = (command: Command, io: Io): Promise<void> => {
  const limit = readFlag(command, 'limit', parseCount(runsMax), io) ?? runsListed;
  const pipeline = readFlag(command, 'pipeline', parseString, io);
  const state = readFlag(command, 'state', parseChoice(states), io);
  const since = readFlag(command, 'since', parseSince(io.clock()), io);
  return printRuns({ limit, pipeline, state, since }, command, io);
};

export const runsCommand: CliCommand = {
  name: 'runs',
  register(program, io) {
    program
      .command('runs')
      .summary('list runs by pipeline, state or time')
      .description('Lists runs, newest first, and failures before a run began.')
      .addOption(databaseUrlFlag())
      .addOption(flag('--pipeline <name>', 'only runs of this pipeline'))
      .addOption(flag('--state <state>', 'only runs in this state', states))
      .addOption(
        flag('--since <age or time>', 'only runs that began since: 12h, 7d, 8w or 2026-05-01T03:00:00Z'),
      )
      .addOption(flag('--limit <n>', `list at most this many; default: ${runsListed}`))
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', runsExamples)
      .action((_, command: Command) => list(command, io));
  },
};

export const showCommand: CliCommand = {
  name: 'show',
  register(program, io) {
    program
      .command('show')
      .summary('show one run in detail')
      .description('Shows a run with its plan, tables, files, notices, rejects and error.')
      .argument('<run>', 'number of a run')
      .addOption(databaseUrlFlag())
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', showExamples)
      .action((run: string, _, command: Command) => printRun(parseRunId(run)!, command, io));
  },
};
