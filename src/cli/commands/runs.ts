// `etl status`, `etl runs` and `etl show`: the newest runs, earlier ones with filters, and one in detail.

import { runsListed } from '../../core/limits.ts';
import type { ShownState } from '../../ledger/history/history.ts';
import { command } from '../command.ts';
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
import { parseSince } from '../parsers.ts';
import { showRun, showRuns } from '../runs.ts';

/** As many as anybody reads; a program that wants more asks the table itself. */
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
A failure before the run began, such as a missing source file, has no number and is listed below the runs.

Examples:
  $ etl status
  $ etl status 12
  $ etl status --json | jq '.[0].state'`,
  act: (given) =>
    given.run === undefined ? showRuns({ limit: runsListed }, given) : showRun(given.run, given),
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
