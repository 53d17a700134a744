// Text of `etl status` and `etl show`: a list of runs, and one run in detail.

import type { FailingPipeline } from '../../ledger/history/failing.ts';
import type { ListedHeld } from '../../ledger/production/held-files.ts';
import type { RunFailure } from '../../core/model.ts';
import type { FileSummary, RunDetails, RunSummary } from '../../ledger/history/history.ts';
import { fileColumnsOf, tableColumns, type RunColumn } from '../../report/run-columns.ts';
import { hintOf, stateName } from '../../report/run-words.ts';
import { formatDate, formatSeconds } from '../../core/amounts.ts';
import { firstOf, formatCount, plural } from '../../core/wording.ts';
import { npx } from '../called.ts';
import type { Look } from '../command.ts';
import { alignTitled, visibleLines, visibleText, wrap, wrapIndented, type Alignment } from '../layout.ts';
import type { Paint, Style } from '../paint.ts';
import { keptPlanLines } from './plan-text.ts';
import { testLines } from './tests-text.ts';

export interface RunShown extends RunSummary {
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

const failingShown = 20;

/** Returns an empty line, the title and the lines; nothing if there are no lines. */
const section = (lines: readonly string[], title?: string): string[] =>
  lines.length === 0 ? [] : ['', ...(title === undefined ? [] : [title]), ...lines];

export const failingLines = (
  failing: readonly FailingPipeline[],
  { paint, width }: Pick<Look, 'paint' | 'width'>,
): string[] => {
  if (failing.length === 0) return [];
  const names = failing.map(({ pipeline, errorCode }) => `${visibleText(pipeline)} (${errorCode})`);
  const text = `failed at the newest attempt: ${firstOf(names, failingShown).join(', ')}`;
  const lines = wrap(`${plural(failing.length, 'pipeline')} ${text}`, width);
  return [...lines.map((line) => paint('red', line)), ''];
};

export const failureLines = (failures: readonly RunFailure[], paint: Paint): string[] => {
  const lines = failures.flatMap(({ failedAt, pipeline, job, host, errorCode, error }) => {
    const [first = '', ...rest] = visibleLines(error);
    const from = job === null ? '' : `, job ${visibleText(job)}`;
    return [
      `${formatDate(failedAt)} ${visibleText(pipeline ?? 'unknown')} on ${visibleText(host)}${from}`,
      paint('red', `  ${errorCode}: ${first}`),
      ...rest.map((line) => `  ${line}`),
    ];
  });
  return section(lines, 'Failures before a run began, newest first:');
};

export const heldFileLines = (held: readonly ListedHeld[], paint: Paint): string[] => {
  const lines = held.flatMap(({ pipeline, table, file, heldAt, code, problem }) => [
    visibleText(`${formatDate(heldAt)} ${pipeline}, table ${table}: ${file}`),
    paint('yellow', visibleText(`  ${code}: ${problem}`)),
  ]);
  return section(
    lines,
    `Files held back, tried again when they have changed, or at once by ${npx('reload')}:`,
  );
};

const tableLines = <Row>(columns: readonly RunColumn<Row>[], rows: readonly Row[], paint: Paint): string[] =>
  rows.length === 0
    ? []
    : alignTitled(
        columns.map(({ title }) => title),
        rows.map((row) => columns.map(({ text }) => visibleText(text(row)))),
        columns.map(({ isNumber }) => (isNumber ? 'right' : 'left')),
        paint,
      );

const errorLines = (
  { run: { id, errorCode, error }, hint: kept }: Pick<RunDetails, 'run' | 'hint'>,
  { paint, width }: Look,
): string[] => {
  if (errorCode === null && error === null) return [];
  const [first = '', ...rest] = visibleLines(error ?? '');
  const hint = kept ?? hintOf(errorCode, id);
  const wrapped = (line: string): string[] => wrap(line, width);
  return [
    ...wrapped(`error ${errorCode ?? ''}: ${first}`).map((line) => paint('red', line)),
    ...[...rest, ...(hint === undefined ? [] : visibleLines(hint).map((line) => `  ${line}`))].flatMap(
      wrapped,
    ),
  ];
};

const earlierLine = ({ startedAt, endedAt, errorCode, error }: RunDetails['earlier'][number]): string => {
  const end = endedAt === null ? 'its process was killed' : formatDate(new Date(endedAt));
  const [first = ''] = visibleLines(error ?? '');
  const why = errorCode === null ? '' : `  ${errorCode}: ${first}`;
  return `  ${formatDate(new Date(startedAt))} – ${end}${why}`;
};

const noticeLines = ({ notices }: Pick<RunDetails, 'notices'>, { paint, width }: Look): string[] =>
  notices
    .flatMap(({ at, text }) => wrapIndented(`${formatDate(new Date(at))}  ${visibleText(text)}`, width))
    .map((line) => paint('dim', line));

const filesShown = 3;

const differencesIn = ({ differs }: FileSummary): readonly string[] =>
  differs === null
    ? []
    : [
        ...differs.missing.map((name) => `without ${visibleText(name)}`),
        ...differs.renamed.map(
          ({ wanted, found }) => `with ${visibleText(found)} instead of ${visibleText(wanted)}`,
        ),
        ...differs.extra.map((name) => `with ${visibleText(name)}, which no column names`),
      ];

const linesOfTable = (table: string, files: readonly FileSummary[]): string[] => {
  const named = new Map<string, string[]>();
  for (const file of files)
    for (const text of differencesIn(file)) named.set(text, [...(named.get(text) ?? []), file.file]);
  return [...named]
    .filter(([text, found]) => found.length < files.length || !text.endsWith('which no column names'))
    .map(([text, found]) => {
      const names = firstOf(found.map(visibleText), filesShown).join(', ');
      const count =
        found.length === files.length ? 'all files' : `${found.length} of ${plural(files.length, 'file')}`;
      return `${visibleText(table)}: ${count} ${text}: ${names}`;
    });
};

/** Returns a line per difference of headers, without unused fields that all files have. */
export const differenceLines = (files: readonly FileSummary[]): string[] => {
  const tables = [...new Set(files.map(({ table }) => table))];
  return tables.flatMap((name) =>
    linesOfTable(
      name,
      files.filter(({ table }) => table === name),
    ),
  );
};

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
  const { run, tables, files, tests, earlier, advice, plan, notices, said } = found;
  const { paint, width } = look;
  const isCut = said > notices.length;
  const newest = isCut ? `the newest ${notices.length} of ${formatCount(said)} notices:` : 'notices:';
  const hint = paint('yellow', `See ${npx(`rejects list ${run.id}`)} for the rejected records.`);
  return [
    ...headLines(run, found.traceId, paint),
    ...section(errorLines(found, look)),
    ...section(
      earlier.map((one) => paint('dim', earlierLine(one))),
      'stopped before, and continued:',
    ),
    ...section(keptPlanLines(plan, width, paint), paint('bold', 'planned')),
    ...section(tableLines(tableColumns, tables, paint)),
    ...section(tableLines(fileColumnsOf(files), files, paint)),
    ...section(differenceLines(files), 'Headers that differ:'),
    ...section(
      advice.flatMap((sentence) => wrap(visibleText(sentence), width - 2).map((line) => `  ${line}`)),
      paint('bold', 'Where the time went'),
    ),
    ...section(testLines(tests, paint)),
    ...section(noticeLines(found, look), newest),
    ...section(run.rejected > 0 ? [hint] : []),
  ];
};
