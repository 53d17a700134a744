// The summary that a run prints when it has ended.

import type { RunResult, StepTime, TableResult } from '../../core/model.ts';
import { strategyNamed } from '../../publish/modes/registry.ts';
import { partitionsText } from '../../report/run-columns.ts';
import { formatBytes, formatDate, formatRate, formatSeconds } from '../../core/amounts.ts';
import { firstOf, formatCount, plural } from '../../core/wording.ts';
import { npx } from '../called.ts';
import { alignFitting, visibleText, wrapUnder, type Alignment } from '../layout.ts';
import type { Paint } from '../paint.ts';

const titles = [
  'table',
  'files',
  'bytes',
  'records',
  'rejected',
  'filtered',
  'seconds',
  'records/s',
  'rows before',
  'rows',
];
/** Columns that are left out in a narrow window, in this order. `etl show` shows all columns. */
const spareTitles = ['records/s', 'bytes', 'files', 'filtered', 'seconds'];
const spare = spareTitles.map((title) => titles.indexOf(title));
const alignments: readonly Alignment[] = ['left', ...titles.slice(1).map((): Alignment => 'right')];

const rowsCells = ({ rowsBefore, rows }: TableResult): string[] => [
  rowsBefore === null ? '–' : formatCount(rowsBefore),
  formatCount(rows),
];

export type LoadedBefore = ReadonlyMap<string, number>;

const recordsRead = ({ table, records }: TableResult, before: LoadedBefore): number =>
  records - (before.get(table) ?? 0);

const countCells = (counts: TableResult, before: LoadedBefore): string[] => [
  formatCount(counts.files),
  formatBytes(counts.bytes),
  formatCount(counts.records),
  formatCount(counts.rejected),
  formatCount(counts.filtered),
  counts.seconds.toFixed(1),
  formatRate(recordsRead(counts, before), counts.seconds),
  ...rowsCells(counts),
];

const tableCells = (result: TableResult, before: LoadedBefore): string[] => {
  const name = visibleText(`${result.schema}.${result.table}`);
  if (result.kind === 'source') return [name, ...countCells(result, before)];
  return [name, '–', '–', '–', '–', '–', result.seconds.toFixed(1), '–', ...rowsCells(result)];
};

const sumOf = (
  tables: readonly TableResult[],
  key: 'files' | 'bytes' | 'records' | 'rejected' | 'filtered' | 'rowsBefore' | 'rows',
) => tables.reduce((sum, table) => sum + (table[key] ?? 0), 0);

/** Returns the row of totals. Its seconds are the run's, because tables are loaded in parallel. */
const totalCells = ({ tables, seconds }: RunResult, before: LoadedBefore): string[] => [
  'total',
  formatCount(sumOf(tables, 'files')),
  formatBytes(sumOf(tables, 'bytes')),
  formatCount(sumOf(tables, 'records')),
  formatCount(sumOf(tables, 'rejected')),
  formatCount(sumOf(tables, 'filtered')),
  seconds.toFixed(1),
  formatRate(
    tables.reduce((sum, table) => sum + recordsRead(table, before), 0),
    seconds,
  ),
  tables.every(({ rowsBefore }) => rowsBefore === null) ? '–' : formatCount(sumOf(tables, 'rowsBefore')),
  formatCount(sumOf(tables, 'rows')),
];

const describeSteps = (steps: readonly StepTime[]): string =>
  steps.map(({ step, seconds }) => `${step} ${formatSeconds(seconds)}`).join(' · ');

const tableLines = (result: RunResult, before: LoadedBefore, width: number, paint: Paint): string[] => {
  const total = result.tables.length > 1 ? [totalCells(result, before)] : [];
  const cells = result.tables.map((table) => tableCells(table, before));
  const [title = '', ...lines] = alignFitting([titles, ...cells, ...total], alignments, width, spare);
  const last = total.length > 0 ? lines.pop() : undefined;
  return [paint('dim', title), ...lines, ...(last === undefined ? [] : [paint('bold', last)])];
};

const strategyNotes = (tables: readonly TableResult[]): string[] =>
  [...new Set(tables.map(({ strategy }) => strategy))].flatMap((name) => {
    const summary = strategyNamed(name)?.summary;
    const names = tables.filter(({ strategy }) => strategy === name).map(({ table }) => visibleText(table));
    return summary === undefined ? [] : [`${summary}: ${names.join(', ')}.`];
  });

const mergeNotes = (tables: readonly TableResult[]): string[] =>
  tables.flatMap(({ table, strategy, changes }) => {
    if (changes === undefined) return [];
    const hasVersions = strategy === 'history';
    const whats = ['inserted', 'updated', 'unchanged', 'deleted', 'superseded'] as const;
    const shown = hasVersions ? whats.slice(0, 4) : whats;
    const counts = shown.map((what) => `${formatCount(changes[what])} ${what}`);
    const head = hasVersions ? 'Versions of' : 'Merged into';
    return [`${head} ${visibleText(table)}: ${counts.join(', ')}.`];
  });

const partitionNotes = (tables: readonly TableResult[]): string[] =>
  tables.flatMap(({ table, partitions }) =>
    partitions === undefined
      ? []
      : [visibleText(`Partitions of ${table} that were replaced: ${partitionsText(partitions)}.`)],
  );

/** Files held back that the summary names; `etl files` lists all. */
const heldShown = 5;

/** Says which files were held back, and how they are tried again. */
export const heldLines = ({ held = [] }: RunResult, width: number, paint: Paint): string[] => {
  if (held.length === 0) return [];
  const more =
    held.length > heldShown
      ? [`  … and ${formatCount(held.length - heldShown)} more: see ${npx('status')}`]
      : [];
  return [
    '',
    paint('yellow', `${plural(held.length, 'file')} held back, of which nothing was loaded:`),
    ...held
      .slice(0, heldShown)
      .flatMap(({ code, problem }) => wrapUnder(visibleText(`  ${code}: ${problem}`), width, 4)),
    ...more,
    ...wrapUnder(`Each is tried again when it has changed; ${npx('reload')} tries a file at once.`, width, 2),
  ];
};

const notes = ({ runId, tables, tests = [] }: RunResult, paint: Paint): string[] => {
  const warned = tests.filter(({ outcome }) => outcome === 'warned').map(({ test }) => visibleText(test));
  const rejected = sumOf(tables, 'rejected');
  return [
    ...(rejected > 0
      ? [paint('yellow', `${plural(rejected, 'record')} rejected: see ${npx(`rejects list ${runId}`)}.`)]
      : []),
    ...(warned.length > 0
      ? [
          paint(
            'yellow',
            `${plural(warned.length, 'data test')} warned: ${firstOf(warned, 3).join('; ')}; see ${npx(`show ${runId}`)}.`,
          ),
        ]
      : []),
    ...strategyNotes(tables),
    ...mergeNotes(tables),
    ...partitionNotes(tables),
  ];
};

const blank = (lines: readonly string[]): string[] => (lines.length > 0 ? ['', ...lines] : []);

/** Returns the summary of a published run. Lines exceed `width` if a table does not fit. */
export const publishedLines = (
  result: RunResult,
  before: LoadedBefore,
  width: number,
  paint: Paint,
): string[] => [
  ...wrapUnder(
    `${paint('green', 'Published')} ${paint('bold', visibleText(result.pipeline))} ` +
      `in ${formatSeconds(result.seconds)}, run ${result.runId} ${paint('dim', `(${describeSteps(result.steps)})`)}`,
    width,
    2,
  ),
  '',
  ...tableLines(result, before, width, paint),
  ...blank(notes(result, paint).flatMap((note) => wrapUnder(note, width, 2))),
];

/** `isLoad`: the run was begun by `etl load`, which never replaces what other files brought. */
export const unchangedLines = (
  { runId, publishedAt }: RunResult,
  width: number,
  isLoad = false,
): string[] => {
  const published = `run ${runId}, published ${formatDate(publishedAt)}`;
  const text = isLoad
    ? `Nothing to do: these files are loaded already. The newest run into the table is ${published}.`
    : `Nothing to do: files and definition are the same as in ${published}; --full-refresh loads everything again.`;
  return wrapUnder(text, width, 2);
};

export const embeddedLines = (paint: Paint): string[] => [
  'The embedded PostgreSQL keeps running:',
  `  ${paint('cyan', `psql "$(${npx('db url')})"`)}   look at the tables`,
  `  ${paint('cyan', npx('db stop'))}            stop it; the data stays`,
];
