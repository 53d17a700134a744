// Text of `etl status` and `etl show`: a list of runs, and one run in detail.

import type { RunFailure } from '../../core/model.ts';
import type { RunDetails, RunSummary } from '../../ledger/history/history.ts';
import { fileColumnsOf, tableColumns, type RunColumn } from '../../report/run-columns.ts';
import { hintOf, stateName } from '../../report/run-words.ts';
import { formatDate, formatSeconds } from '../../core/amounts.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { differenceLines } from './differences-text.ts';
import type { Look } from '../command.ts';
import { alignTitled, visibleLines, visibleText, wrap, wrapIndented, type Alignment } from '../layout.ts';
import type { Paint, Style } from '../paint.ts';
import { keptPlanLines } from './plan-text.ts';
import { testLines } from './tests-text.ts';

export interface RunShown extends RunSummary {
  /** True if the run is under way by its state, but its process has ended. */
  readonly processGone: boolean;
}

const stateStyles: Readonly<Record<string, Style>> = {
  published: 'green',
  failed: 'red',
  cancelled: 'yellow',
};

const stateText = (run: RunShown, paint: Paint): string =>
  run.processGone
    ? paint('yellow', `${run.state} (process gone)`)
    : paint(stateStyles[run.state] ?? 'cyan', stateName(run));

const right = (count: number): Alignment[] => Array.from({ length: count }, () => 'right');
const left = (count: number): Alignment[] => Array.from({ length: count }, () => 'left');

const optionalSeconds = (seconds: number | null): string => (seconds === null ? '–' : seconds.toFixed(1));

/** Returns a line per run; without runs, the line `none`. */
export const runsLines = (runs: readonly RunShown[], paint: Paint, none: string): string[] => {
  if (runs.length === 0) return [none];
  const rows = runs.map((run) => [
    String(run.id),
    visibleText(run.pipeline),
    stateText(run, paint),
    formatDate(run.startedAt),
    optionalSeconds(run.seconds),
    formatCount(run.records),
    formatCount(run.rejected),
    run.errorCode ?? '',
  ]);
  const titles = ['run', 'pipeline', 'state', 'started', 'seconds', 'records', 'rejected', 'error'];
  return alignTitled(titles, rows, ['right', ...left(3), ...right(3), 'left'], paint);
};

/** Returns the failures that happened before a run began, with their errors. */
export const failureLines = (failures: readonly RunFailure[], paint: Paint): string[] => {
  if (failures.length === 0) return [];
  const lines = failures.flatMap(({ failedAt, pipeline, job, host, errorCode, error }) => {
    const [first = '', ...rest] = visibleLines(error);
    const from = job === null ? '' : `, job ${visibleText(job)}`;
    return [
      `${formatDate(failedAt)} ${visibleText(pipeline ?? 'unknown')} on ${visibleText(host)}${from}`,
      paint('red', `  ${errorCode}: ${first}`),
      ...rest.map((line) => `  ${line}`),
    ];
  });
  return ['', 'Failures before a run began, newest first:', ...lines];
};

const tableLines = <Row>(
  columns: readonly RunColumn<Row>[],
  rows: readonly Row[],
  paint: Paint,
): readonly string[] =>
  rows.length === 0
    ? []
    : [
        '',
        ...alignTitled(
          columns.map(({ title }) => title),
          rows.map((row) => columns.map(({ text }) => visibleText(text(row)))),
          columns.map(({ isNumber }) => (isNumber ? 'right' : 'left')),
          paint,
        ),
      ];

const errorLines = ({ errorCode, error }: RunSummary, { paint, width }: Look): string[] => {
  if (errorCode === null && error === null) return [];
  const [first = '', ...rest] = visibleLines(error ?? '');
  const hint = hintOf(errorCode);
  const wrapped = (line: string): string[] => wrap(line, width);
  return [
    '',
    ...wrapped(`error ${errorCode ?? ''}: ${first}`).map((line) => paint('red', line)),
    ...[...rest, ...(hint === undefined ? [] : [`  ${hint}`])].flatMap(wrapped),
  ];
};

const adviceLines = (advice: RunDetails['advice'], { paint, width }: Look): string[] =>
  advice.length === 0
    ? []
    : [
        '',
        paint('bold', 'Where the time went'),
        ...advice.flatMap((sentence) => wrap(visibleText(sentence), width - 2).map((line) => `  ${line}`)),
      ];

/** Returns a line for each earlier process of the run: when it stopped, and why. */
const earlierLines = (earlier: RunDetails['earlier'], paint: Paint): string[] =>
  earlier.length === 0
    ? []
    : [
        '',
        'stopped before, and continued:',
        ...earlier.map(({ startedAt, endedAt, errorCode, error }) => {
          const end = endedAt === null ? 'its process was killed' : formatDate(new Date(endedAt));
          const [first = ''] = visibleLines(error ?? '');
          const why = errorCode === null ? '' : `  ${errorCode}: ${first}`;
          return paint('dim', `  ${formatDate(new Date(startedAt))} – ${end}${why}`);
        }),
      ];

const noticeLines = (
  { notices, said }: Pick<RunDetails, 'notices' | 'said'>,
  { paint, width }: Look,
): string[] => {
  if (notices.length === 0) return [];
  const which =
    said > notices.length ? `the newest ${notices.length} of ${formatCount(said)} notices:` : 'notices:';
  const shown = notices.flatMap(({ at, text }) =>
    wrapIndented(`${formatDate(new Date(at))}  ${visibleText(text)}`, width),
  );
  return ['', which, ...shown.map((line) => paint('dim', line))];
};

const rejectLines = ({ id, rejected }: RunSummary, paint: Paint): string[] =>
  rejected > 0 ? ['', paint('yellow', `See npx etl rejects list ${id} for the rejected records.`)] : [];

const headLines = (run: RunShown, traceId: string | null, paint: Paint): string[] => {
  const finished = run.finishedAt ? `, finished ${formatDate(run.finishedAt)}` : '';
  const trace = traceId === null ? [] : [`trace ${visibleText(traceId)}`];
  const took = run.seconds === null ? '' : `, ${formatSeconds(run.seconds)}`;
  return [
    `run ${run.id} of ${paint('bold', visibleText(run.pipeline))}: ${stateText(run, paint)}`,
    `started ${formatDate(run.startedAt)}${finished}${took}`,
    `process ${run.pid} on ${visibleText(run.host)}, ${plural(run.workers, 'worker')}`,
    ...trace,
  ];
};

export const runLines = (found: Omit<RunDetails, 'run'> & { run: RunShown }, look: Look): string[] => {
  const { run, tables, files, tests, earlier, advice, plan } = found;
  const { paint, width } = look;
  return [
    ...headLines(run, found.traceId, paint),
    ...errorLines(run, look),
    ...earlierLines(earlier, paint),
    ...(plan.tables.length > 0 ? ['', paint('bold', 'planned'), ...keptPlanLines(plan, width, paint)] : []),
    ...tableLines(tableColumns, tables, paint),
    ...tableLines(fileColumnsOf(files), files, paint),
    ...differenceLines(files),
    ...adviceLines(advice, look),
    ...(tests.length > 0 ? ['', ...testLines(tests, paint)] : []),
    ...noticeLines(found, look),
    ...rejectLines(run, paint),
  ];
};
