// `etl status [run]`: the newest runs, or one in detail of them.

import { hostname } from 'node:os';
import type { Command } from 'commander';
import { runsListed } from '../../limits.ts';
import type { RunFailure } from '../../model.ts';
import { isRunning } from '../../running.ts';
import type { RunDetails, RunSummary } from '../../history/history.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseRunId, readSwitch } from '../flags.ts';
import { widthOf, type Io } from '../io.ts';
import { clip } from '../text/layout.ts';
import { paintFor } from '../text/paint.ts';
import { askServer, databaseUrlFlag } from '../server.ts';
import { failureLines, runLines, runsLines, type RunShown } from '../text/status-text.ts';

const examples = `
States: planned, loading, loaded, publishing; then published, failed, stopped or cancelled. "(process gone)" after a state
means that the run's process was killed. The next run of the pipeline continues a run that was killed, stopped by a signal,
failed or cancelled. In JSON and in etl.run, a stopped run is "cancelled" with the error ETL_INTERRUPTED.
A failure before the run began, such as a missing source file, has no number and is listed below the runs.

Examples:
  $ etl status
  $ etl status 12
  $ etl status --json | jq '.[0].state'`;

const finalStates = new Set(['published', 'failed', 'cancelled']);

/** Only this machine's processes can be looked for. */
const isGone = ({ state, host, pid }: RunSummary): boolean =>
  !finalStates.has(state) && host === hostname() && !isRunning(pid);

const withLiveness = <R extends RunSummary>(run: R) => ({ ...run, processGone: isGone(run) });

interface Listed {
  readonly runs: readonly RunShown[];
  readonly failures: readonly RunFailure[];
}

/** Under way first, then what ended last; what failed before there was a run has no number. */
const inOneList = ({ runs, failures }: Listed): readonly object[] => {
  const others = failures.map(({ failedAt, ...failure }) => ({
    id: null,
    state: 'failed',
    startedAt: failedAt,
    finishedAt: failedAt,
    ...failure,
  }));
  const endOf = ({ finishedAt }: { finishedAt: Date | null }): number => finishedAt?.getTime() ?? Infinity;
  return [...runs, ...others].toSorted((one, other) => (endOf(one) < endOf(other) ? 1 : -1));
};

const ask = async (command: Command, io: Io, runId: number | undefined): Promise<RunDetails | Listed> => {
  const { findRun, listRuns } = await import('../../history/history.ts');
  const { failuresShown, listFailures } = await import('../../checkpoint/failure.ts');
  const found = await askServer(command, io, async (client): Promise<RunDetails | Listed> =>
    runId !== undefined
      ? findRun(client, runId)
      : {
          runs: (await listRuns(client, runsListed)).map(withLiveness),
          failures: await listFailures(client, failuresShown),
        },
  );
  if (found !== undefined) return found;
  if (runId === undefined) return { runs: [], failures: [] };
  const { EtlError } = await import('../../errors.ts');
  throw new EtlError('ETL_RUN_UNKNOWN', { run: runId });
};

const printStatus = async (run: string | undefined, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const found = await ask(command, io, parseRunId(run));
  const shown = 'runs' in found ? found : { ...found, run: withLiveness(found.run) };
  if (json) {
    const data = 'runs' in shown ? inOneList(shown) : shown;
    io.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
    return;
  }
  const paint = paintFor(io.stdout, io.env);
  const lines =
    'runs' in shown
      ? [...runsLines(shown.runs, paint), ...failureLines(shown.failures, paint)]
      : runLines(shown, paint);
  io.stdout.write(lines.map((line) => `${clip(line, widthOf(io.stdout))}\n`).join(''));
};

export const statusCommand: CliCommand = {
  name: 'status',
  register(program, io) {
    program
      .command('status')
      .summary('the newest runs, or one in detail')
      .description('Lists current and recent runs, or shows one with its tables, files, rejects and error.')
      .argument('[run]', 'number of a run')
      .addOption(databaseUrlFlag())
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((run: string | undefined, _, command: Command) => printStatus(run, command, io));
  },
};
