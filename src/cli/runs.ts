// What the commands that show runs answer: a list, or one in detail.

import type { RunDetails, RunsWanted, RunSummary } from '../ledger/history/history.ts';
import type { RunFailure } from '../core/model.ts';
import { isProcessGone } from '../report/run-words.ts';
import type { Answer } from './command.ts';
import { askServer, type GivenServer } from './server.ts';
import { clip } from './layout.ts';
import { failureLines, runLines, runsLines, type RunShown } from './text/status-text.ts';

const withLiveness = <R extends RunSummary>(run: R) => ({ ...run, processGone: isProcessGone(run) });

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

const askForRuns = async (wanted: RunsWanted, given: GivenServer): Promise<Listed> => {
  const { listRuns } = await import('../ledger/history/history.ts');
  const { failuresShown, listFailures } = await import('../ledger/run/failure.ts');
  const { limit, state, ...others } = wanted;
  const areFailuresWanted = state === undefined || state === 'failed';
  const found = await askServer(given, async (client): Promise<Listed> => ({
    runs: (await listRuns(client, wanted)).map(withLiveness),
    failures: areFailuresWanted
      ? await listFailures(client, { ...others, limit: Math.min(limit, failuresShown) })
      : [],
  }));
  return found ?? { runs: [], failures: [] };
};

const askForRun = async (runId: number, given: GivenServer): Promise<RunDetails> => {
  const { findRun } = await import('../ledger/history/history.ts');
  const found = await askServer(given, (client) => findRun(client, runId));
  if (found !== undefined) return found;
  const { EtlError } = await import('../core/errors/errors.ts');
  throw new EtlError('ETL_RUN_UNKNOWN', { run: runId });
};

/** Errors: ETL_USAGE (no run of that pipeline), those of the server. */
export const showRuns = async (wanted: RunsWanted, given: GivenServer): Promise<Answer> => {
  const listed = await askForRuns(wanted, given);
  const isNarrowed =
    wanted.pipeline !== undefined || wanted.state !== undefined || wanted.since !== undefined;
  return {
    json: [inOneList(listed)],
    isIndented: true,
    lines: ({ paint, width }) =>
      [
        ...runsLines(listed.runs, paint, isNarrowed ? 'no such runs' : 'no runs yet'),
        ...failureLines(listed.failures, paint),
      ].map((line) => clip(line, width)),
  };
};

/** Errors: ETL_RUN_UNKNOWN, those of the server. */
export const showRun = async (runId: number, given: GivenServer): Promise<Answer> => {
  const found = await askForRun(runId, given);
  const shown = { ...found, run: withLiveness(found.run) };
  return {
    json: [shown],
    isIndented: true,
    lines: (look) => runLines(shown, look).map((line) => clip(line, look.width)),
  };
};
