// What a run leaves on the screen: pure functions from its result to lines.

import type { RunResult, StepTime, TableResult } from '../../core/model.ts';
import { strategyNamed } from '../../publish/modes/registry.ts';
import { formatBytes, formatRate, formatSeconds } from '../../core/amounts.ts';
import { firstOf, formatCount, plural } from '../../core/wording.ts';
import { alignFitting, visibleText, wrapUnder, type Alignment } from '../layout.ts';
import { partitionsText } from './status-text.ts';
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
/** Left out where the window is too narrow, the first of them first: `etl show` has them. */
const spareTitles = ['records/s', 'bytes', 'files', 'filtered', 'seconds'];
const spare = spareTitles.map((title) => titles.indexOf(title));
const alignments: readonly Alignment[] = ['left', ...titles.slice(1).map((): Alignment => 'right')];

const rowsCells = ({ rowsBefore, rows }: TableResult): string[] => [
  rowsBefore === null ? '–' : formatCount(rowsBefore),
  formatCount(rows),
];

/** Records of a table that were in staging before this process began: they say nothing about its pace. */
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

/** Seconds are those of the run: tables are worked on side by side, so theirs do not add up. */
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

/** What strategies say of the tables that they published. */
const strategyNotes = (tables: readonly TableResult[]): string[] =>
  [...new Set(tables.map(({ strategy }) => strategy))].flatMap((name) => {
    const summary = strategyNamed(name)?.summary;
    const names = tables.filter(({ strategy }) => strategy === name).map(({ table }) => visibleText(table));
    return summary === undefined ? [] : [`${summary}: ${names.join(', ')}.`];
  });

/** What became of the records of tables that are merged or have versions. */
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

/** The partitions that were replaced, where others stayed. */
const partitionNotes = (tables: readonly TableResult[]): string[] =>
  tables.flatMap(({ table, partitions }) =>
    partitions === undefined ? [] : [`Replaced of ${visibleText(table)}: ${partitionsText(partitions)}.`],
  );

const notes = ({ runId, tables, tests = [] }: RunResult, paint: Paint): string[] => {
  const warned = tests.filter(({ outcome }) => outcome === 'warned').map(({ test }) => visibleText(test));
  const rejected = sumOf(tables, 'rejected');
  return [
    ...(rejected > 0
      ? [paint('yellow', `${plural(rejected, 'record')} rejected: see npx etl rejects list ${runId}.`)]
      : []),
    ...(warned.length > 0
      ? [
          paint(
            'yellow',
            `${plural(warned.length, 'data test')} warned: ${firstOf(warned, 3).join('; ')}; see npx etl show ${runId}.`,
          ),
        ]
      : []),
    ...strategyNotes(tables),
    ...mergeNotes(tables),
    ...partitionNotes(tables),
  ];
};

const blank = (lines: readonly string[]): string[] => (lines.length > 0 ? ['', ...lines] : []);

/** The summary of a run that published, in lines of at most `width` cells where that is possible. */
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
