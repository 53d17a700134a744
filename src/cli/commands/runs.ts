// `etl status` shows the newest runs, `etl runs` filters runs, `etl show` shows one run in detail.

import { EtlError } from '../../core/errors/errors.ts';
import { runsListed } from '../../core/limits.ts';
import type { FailingPipeline } from '../../ledger/history/failing.ts';
import type { ListedHeld } from '../../ledger/production/held-files.ts';
import type { RunFailure } from '../../core/model.ts';
import type { RunDetails, RunsWanted, RunSummary, ShownState } from '../../ledger/history/history.ts';
import { isProcessGone } from '../../report/run-words.ts';
import { command, type Answer } from '../command.ts';
import {
  choice,
  countFlag,
  databaseUrl,
  flag,
  optionalRun,
  printing,
  runArgument,
  textFlag,
} from '../inputs.ts';
import { clip } from '../layout.ts';
import { parseSince } from '../parsers.ts';
import { askServer, type GivenServer } from '../server.ts';
import {
  failingLines,
  failureLines,
  heldFileLines,
  runLines,
  runsLines,
  type RunShown,
} from '../text/status-text.ts';

const withLiveness = <R extends RunSummary>(run: R) => ({ ...run, processGone: isProcessGone(run) });

interface Listed {
  readonly failing: readonly FailingPipeline[];
  readonly runs: readonly RunShown[];
  readonly failures: readonly RunFailure[];
  readonly held: readonly ListedHeld[];
}

/**
 * Adds failures of runs that never began, and files held back. Sorted by end: running runs first,
 * then the newest.
 */
const inOneList = ({ runs, failures, held }: Omit<Listed, 'failing'>): readonly object[] => {
  const others = failures.map(({ failedAt, ...failure }) => ({
    id: null,
    state: 'failed',
    startedAt: failedAt,
    finishedAt: failedAt,
    ...failure,
  }));
  const files = held.map(({ heldAt, code: errorCode, problem: error, ...file }) => ({
    id: null,
    state: 'held back',
    startedAt: heldAt,
    finishedAt: heldAt,
    errorCode,
    error,
    ...file,
  }));
  const endOf = ({ finishedAt }: { finishedAt: Date | null }): number => finishedAt?.getTime() ?? Infinity;
  return [...runs, ...others, ...files].toSorted((one, other) => {
    const [first, second] = [endOf(one), endOf(other)];
    return first === second ? 0 : first < second ? 1 : -1;
  });
};

/** `isStatus`: only what counts now, which are also failing runs older than the listed ones. */
const askForRuns = async (wanted: RunsWanted, given: GivenServer, isStatus: boolean): Promise<Listed> => {
  const { listRuns, selectRunsOf } = await import('../../ledger/history/history.ts');
  const { listFailing } = await import('../../ledger/history/failing.ts');
  const { failuresShown, listFailures } = await import('../../ledger/run/failure.ts');
  const { listHeld } = await import('../../ledger/production/held-files.ts');
  const { rowsOf } = await import('../../db/client.ts');
  const { limit, state, ...others } = wanted;
  const areFailuresWanted = state === undefined || state === 'failed';
  const found = await askServer(given, async (client): Promise<Listed> => {
    const failing = isStatus ? await listFailing(client) : [];
    const runs = await listRuns(client, wanted);
    const known = new Set(runs.map(({ id }) => id));
    const older = failing.flatMap(({ run }) => (run === null || known.has(run) ? [] : [run]));
    if (older.length > 0) runs.push(...(await rowsOf<RunSummary>(client, selectRunsOf(older))));
    const asked = { ...others, limit: Math.min(limit, failuresShown), areCurrent: isStatus };
    return {
      failing,
      runs: runs.map(withLiveness),
      failures: areFailuresWanted ? await listFailures(client, asked) : [],
      held: state === undefined ? await listHeld(client, { pipeline: wanted.pipeline, limit }) : [],
    };
  });
  return found ?? { failing: [], runs: [], failures: [], held: [] };
};

export const askForRun = async (runId: number, given: GivenServer): Promise<RunDetails> => {
  const { findRun } = await import('../../ledger/history/history.ts');
  const found = await askServer(given, (client) => findRun(client, runId));
  if (found !== undefined) return found;
  throw new EtlError('ETL_RUN_UNKNOWN', { run: runId });
};

const showRuns = async (wanted: RunsWanted, given: GivenServer, isStatus = false): Promise<Answer> => {
  const listed = await askForRuns(wanted, given, isStatus);
  const isNarrowed =
    wanted.pipeline !== undefined || wanted.state !== undefined || wanted.since !== undefined;
  return {
    json: [inOneList(listed)],
    isIndented: true,
    lines: ({ paint, width }) =>
      [
        ...failingLines(listed.failing, { paint, width }),
        ...runsLines(listed.runs, paint, isNarrowed ? 'no such runs' : 'no runs yet'),
        ...failureLines(listed.failures, paint),
        ...heldFileLines(listed.held, paint),
      ].map((line) => clip(line, width)),
  };
};

const showRun = async (runId: number, given: GivenServer): Promise<Answer> => {
  const found = await askForRun(runId, given);
  const shown = { ...found, run: withLiveness(found.run) };
  return {
    json: [shown],
    isIndented: true,
    lines: (look) => runLines(shown, look).map((line) => clip(line, look.width)),
  };
};

/** Upper limit of --limit. A program that needs more runs can query etl.run. */
const runsMax = 10_000;

const states: readonly ShownState[] = ['running', 'published', 'failed', 'stopped', 'cancelled'];

export const statusCommand = command({
  name: 'status',
  summary: 'show the newest runs, or one in detail',
  description: 'Lists current and recent runs, or shows one with its tables, files, rejects and error.',
  takes: { run: optionalRun, databaseUrl, ...printing() },
  help: `
States: planned, loading, loaded, publishing; then published, failed, stopped or cancelled. "(process gone)" after a state
means that the run's process was killed. The next run of the pipeline continues a run that was killed, stopped by a signal,
failed or cancelled. In JSON and in etl.run, a stopped run is "cancelled" with the error ETL_INTERRUPTED.
Pipelines whose newest attempt failed come first. A failure before the run began, such as a missing source file, has no number
and is listed below the runs until the pipeline succeeds (\`etl runs\` lists older ones, too), as are files that the newest runs
held back.

Examples:
  $ etl status
  $ etl status 12
  $ etl status --json | jq '.[0].state'`,
  act: (given) =>
    given.run === undefined ? showRuns({ limit: runsListed }, given, true) : showRun(given.run, given),
});

export const runsCommand = command({
  name: 'runs',
  summary: 'list runs by pipeline, state or time',
  description: 'Lists runs, newest first, and failures before a run began.',
  takes: {
    databaseUrl,
    pipeline: textFlag('--pipeline <name>', 'only runs of this pipeline'),
    state: choice('--state <state>', 'only runs in this state', states),
    since: flag(
      '--since <age or time>',
      'only runs that began since: 12h, 7d, 8w or 2026-05-01T03:00:00Z',
      parseSince,
    ),
    limit: countFlag('--limit <n>', `list at most this many; default: ${runsListed}`, runsMax),
    ...printing(),
  },
  help: `
Runs under way come first, then those that ended last. "(process gone)" after a state means that the run's process was killed.

Examples:
  $ etl runs --pipeline noaa --since 7d
  $ etl runs --state failed --since 2026-05-01
  $ etl runs --pipeline noaa --state published --limit 1 --json | jq '.[0].finishedAt'`,
  act: (given) => {
    const { limit = runsListed, pipeline, state, since } = given;
    return showRuns({ limit, pipeline, state, since }, given);
  },
});

export const showCommand = command({
  name: 'show',
  summary: 'show one run in detail',
  description: 'Shows a run with its plan, tables, files, notices, rejects and error.',
  takes: { run: runArgument, databaseUrl, ...printing() },
  help: `
Examples:
  $ etl show 12
  $ etl show 12 --json | jq '.tables[] | {table, rows}'
  $ etl show 12 --json | jq -r '.notices[].text'`,
  act: (given) => showRun(given.run, given),
});
