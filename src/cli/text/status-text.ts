// Runs as people read them: the list of `etl status`, and the page of one run.

import { optionsText } from '../../core/declaration/dialect.ts';
import type { RunFailure } from '../../core/model.ts';
import type { FileSummary, RunDetails, RunSummary, TableSummary } from '../../ledger/history/history.ts';
import { hintOf, stateName } from '../../report/run-words.ts';
import { formatBytes, formatDate, formatSeconds } from '../../core/amounts.ts';
import { firstOf, formatCount, plural } from '../../core/wording.ts';
import { differenceLines } from './differences-text.ts';
import type { Look } from '../command.ts';
import { alignTitled, visibleLines, visibleText, wrap, wrapIndented, type Alignment } from '../layout.ts';
import type { Paint, Style } from '../paint.ts';
import { keptPlanLines } from './plan-text.ts';
import { testLines } from './tests-text.ts';

export interface RunShown extends RunSummary {
  /** The run says it is at work, but its process has ended. */
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

/** One line a run, or `none`. */
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

/** What failed before there was a run, with the reason: it has no page of its own. */
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

const countCells = (counts: TableSummary | FileSummary): string[] =>
  [counts.records, counts.copied, counts.rejected, counts.filtered].map(formatCount);

/** How many partitions are named. */
const namedMax = 5;

/** Those that a run has replaced of a table whose others stayed. */
export const partitionsText = (names: readonly string[]): string =>
  names.length === 0 ? 'no partition' : firstOf(names.map(visibleText), namedMax).join(', ');

const publishedBy = ({ strategy, partitions }: TableSummary): string =>
  partitions === null ? (strategy ?? '') : `${strategy}: ${partitionsText(partitions)}`;

const tableRow = (table: TableSummary): string[] => [
  visibleText(table.schema === null ? table.table : `${table.schema}.${table.table}`),
  ...(table.files > 0
    ? [formatCount(table.files), formatBytes(table.bytes), ...countCells(table)]
    : ['–', '–', '–', '–', '–', '–']),
  table.rowsBefore === null ? '–' : formatCount(table.rowsBefore),
  table.rows === null ? 'not published' : formatCount(table.rows),
  publishedBy(table),
];

const tableLines = (tables: readonly TableSummary[], paint: Paint): string[] =>
  alignTitled(
    [
      'table',
      'files',
      'bytes',
      'records',
      'copied',
      'rejected',
      'filtered',
      'rows before',
      'rows',
      'published by',
    ],
    tables.map(tableRow),
    ['left', ...right(8), 'left'],
    paint,
  );

/** How a file is written: compressed, not in UTF-8, in another dialect than other files of its table. */
const writtenIn = ({ decoding, encoding, dialect }: FileSummary): string =>
  [decoding, encoding === 'utf-8' ? null : encoding, dialect && visibleText(optionsText(dialect))]
    .filter((part) => part !== null && part !== '')
    .join(', ');

const fileLines = (files: readonly FileSummary[], paint: Paint): string[] =>
  alignTitled(
    ['file', 'table', 'bytes', 'records', 'copied', 'rejected', 'filtered', ''],
    files.map((file) => [
      visibleText(file.file),
      visibleText(file.table),
      formatBytes(file.bytes),
      ...countCells(file),
      writtenIn(file),
    ]),
    ['left', 'left', ...right(5), 'left'],
    paint,
  );

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

/** Where the time went, a sentence after another. */
const adviceLines = (advice: RunDetails['advice'], { paint, width }: Look): string[] =>
  advice.length === 0
    ? []
    : [
        '',
        paint('bold', 'Where the time went'),
        ...advice.flatMap((sentence) => wrap(visibleText(sentence), width - 2).map((line) => `  ${line}`)),
      ];

/** How the run stopped before it was continued. */
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

/** What it said on its way. */
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

/** One run: what it did table by table and file by file, what it had planned and said, where its time went, and why it failed. */
export const runLines = (found: Omit<RunDetails, 'run'> & { run: RunShown }, look: Look): string[] => {
  const { run, tables, files, tests, earlier, advice, plan } = found;
  const { paint, width } = look;
  return [
    ...headLines(run, found.traceId, paint),
    ...errorLines(run, look),
    ...earlierLines(earlier, paint),
    ...(plan.tables.length > 0 ? ['', paint('bold', 'planned'), ...keptPlanLines(plan, width, paint)] : []),
    ...(tables.length > 0 ? ['', ...tableLines(tables, paint)] : []),
    ...(files.length > 0 ? ['', ...fileLines(files, paint)] : []),
    ...differenceLines(files),
    ...adviceLines(advice, look),
    ...(tests.length > 0 ? ['', ...testLines(tests, paint)] : []),
    ...noticeLines(found, look),
    ...rejectLines(run, paint),
  ];
};
