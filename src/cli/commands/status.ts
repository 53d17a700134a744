// `etl status [run]`: the newest runs, or one in detail; `etl runs` and `etl show` have more options.

import type { Command } from 'commander';
import { runsListed } from '../../core/limits.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseRunId } from '../flags.ts';
import { printRun, printRuns } from '../runs.ts';
import { databaseUrlFlag } from '../server.ts';

const examples = `
States: planned, loading, loaded, publishing; then published, failed, stopped or cancelled. "(process gone)" after a state
means that the run's process was killed. The next run of the pipeline continues a run that was killed, stopped by a signal,
failed or cancelled. In JSON and in etl.run, a stopped run is "cancelled" with the error ETL_INTERRUPTED.
A failure before the run began, such as a missing source file, has no number and is listed below the runs.

Examples:
  $ etl status
  $ etl status 12
  $ etl status --json | jq '.[0].state'`;

export const statusCommand: CliCommand = {
  name: 'status',
  register(program, io) {
    program
      .command('status')
      .summary('show the newest runs, or one in detail')
      .description('Lists current and recent runs, or shows one with its tables, files, rejects and error.')
      .argument('[run]', 'number of a run')
      .addOption(databaseUrlFlag())
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((run: string | undefined, _, command: Command) => {
        const runId = parseRunId(run);
        return runId === undefined
          ? printRuns({ limit: runsListed }, command, io)
          : printRun(runId, command, io);
      });
  },
};
