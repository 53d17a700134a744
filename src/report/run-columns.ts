// Columns of a run's tables and files, as the terminal and the page show them.

import { formatBytes } from '../core/amounts.ts';
import { optionsText } from '../core/dialect.ts';
import { firstOf, formatCount } from '../core/wording.ts';
import type { FileSummary, TableSummary } from '../ledger/history/history.ts';

export interface RunColumn<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly isNumber?: boolean;
}

const partitionsNamed = 5;

export const partitionsText = (names: readonly string[]): string =>
  names.length === 0 ? 'no partition' : firstOf(names, partitionsNamed).join(', ');

const countColumns = [
  { title: 'records', text: ({ records }) => formatCount(records), isNumber: true },
  { title: 'copied', text: ({ copied }) => formatCount(copied), isNumber: true },
  { title: 'rejected', text: ({ rejected }) => formatCount(rejected), isNumber: true },
  { title: 'filtered', text: ({ filtered }) => formatCount(filtered), isNumber: true },
] as const satisfies readonly RunColumn<FileSummary | TableSummary>[];

/** A derived table has no files, so its counts are shown as '–'. */
const ofSource = ({ text, ...column }: RunColumn<TableSummary>): RunColumn<TableSummary> => ({
  ...column,
  text: (table) => (table.files > 0 ? text(table) : '–'),
});

export const tableColumns: readonly RunColumn<TableSummary>[] = [
  { title: 'table', text: ({ schema, table }) => (schema === null ? table : `${schema}.${table}`) },
  ...[
    { title: 'files', text: ({ files }: TableSummary) => formatCount(files), isNumber: true },
    { title: 'bytes', text: ({ bytes }: TableSummary) => formatBytes(bytes), isNumber: true },
    ...countColumns,
  ].map(ofSource),
  {
    title: 'rows before',
    text: ({ rowsBefore }) => (rowsBefore === null ? '–' : formatCount(rowsBefore)),
    isNumber: true,
  },
  {
    title: 'rows',
    text: ({ rows }) => (rows === null ? 'not published' : formatCount(rows)),
    isNumber: true,
  },
  {
    title: 'published by',
    text: ({ strategy, partitions }) =>
      partitions === null ? (strategy ?? '') : `${strategy}: ${partitionsText(partitions)}`,
  },
];

const formatText = ({ decoding, encoding, dialect }: FileSummary): string =>
  [decoding, encoding === 'utf-8' ? null : encoding, dialect && optionsText(dialect)]
    .filter(Boolean)
    .join(', ');

export const fileColumnsOf = (files: readonly FileSummary[]): readonly RunColumn<FileSummary>[] => [
  { title: 'file', text: ({ file }) => file },
  { title: 'table', text: ({ table }) => table },
  { title: 'bytes', text: ({ bytes }) => formatBytes(bytes), isNumber: true },
  ...countColumns,
  ...(files.some((file) => formatText(file) !== '') ? [{ title: 'format', text: formatText }] : []),
];
