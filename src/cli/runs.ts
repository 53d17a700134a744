// Prints runs for the commands that show them: a list, or one in detail.

import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { RunDetails, RunsWanted, RunSummary } from '../ledger/history/history.ts';
import type { RunFailure } from '../core/model.ts';
import { isRunning } from '../core/running.ts';
import { readSwitch } from './flags.ts';
import { widthOf, type Io } from './io.ts';
import { askServer } from './server.ts';
import { clip } from './layout.ts';
import { paintFor } from './paint.ts';
import { failureLines, runLines, runsLines, type RunShown } from './text/status-text.ts';
import { visibleJson } from '../core/wording.ts';

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
  return [...runs, ...others].toSorted((one, other) => {
    const [first, second] = [endOf(one), endOf(other)];
    return first === second ? 0 : first < second ? 1 : -1;
  });
};

const askForRuns = async (wanted: RunsWanted, command: Command, io: Io): Promise<Listed> => {
  const { listRuns } = await import('../ledger/history/history.ts');
  const { failuresShown, listFailures } = await import('../ledger/run/failure.ts');
  const { limit, state, ...others } = wanted;
  const areFailuresWanted = state === undefined || state === 'failed';
  const found = await askServer(command, io, async (client): Promise<Listed> => ({
    runs: (await listRuns(client, wanted)).map(withLiveness),
    failures: areFailuresWanted
      ? await listFailures(client, { ...others, limit: Math.min(limit, failuresShown) })
      : [],
  }));
  return found ?? { runs: [], failures: [] };
};

const askForRun = async (runId: number, command: Command, io: Io): Promise<RunDetails> => {
  const { findRun } = await import('../ledger/history/history.ts');
  const found = await askServer(command, io, (client) => findRun(client, runId));
  if (found !== undefined) return found;
  const { EtlError } = await import('../core/errors/errors.ts');
  throw new EtlError('ETL_RUN_UNKNOWN', { run: runId });
};

const print = (command: Command, io: Io, data: unknown, lines: () => readonly string[]): void => {
  if (readSwitch(command, 'json', io)) io.stdout.write(`${visibleJson(data, undefined, 2)}\n`);
  else
    io.stdout.write(
      lines()
        .map((line) => `${clip(line, widthOf(io.stdout))}\n`)
        .join(''),
    );
};

/** Errors: ETL_USAGE (no run of that pipeline), those of the server. */
export const printRuns = async (wanted: RunsWanted, command: Command, io: Io): Promise<void> => {
  const listed = await askForRuns(wanted, command, io);
  const paint = paintFor(io.stdout, io.env);
  const isNarrowed =
    wanted.pipeline !== undefined || wanted.state !== undefined || wanted.since !== undefined;
  print(command, io, inOneList(listed), () => [
    ...runsLines(listed.runs, paint, isNarrowed ? 'no such runs' : 'no runs yet'),
    ...failureLines(listed.failures, paint),
  ]);
};

/** Errors: ETL_RUN_UNKNOWN, those of the server. */
export const printRun = async (runId: number, command: Command, io: Io): Promise<void> => {
  const found = await askForRun(runId, command, io);
  const shown = { ...found, run: withLiveness(found.run) };
  const drawing = { paint: paintFor(io.stdout, io.env), width: widthOf(io.stdout) };
  print(command, io, shown, () => runLines(shown, drawing));
};
