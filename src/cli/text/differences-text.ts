// Text of `etl show` about files whose headers differ from their table's columns.

import type { FileSummary } from '../../ledger/history/history.ts';
import { firstOf, plural } from '../../core/wording.ts';
import { visibleText } from '../layout.ts';

/** Number of files that a line names. */
const filesShown = 3;

/** Returns a text per difference between a file's header and its table's columns. */
const differencesIn = ({ differs }: FileSummary): readonly string[] =>
  differs === null
    ? []
    : [
        ...differs.missing.map((name) => `without ${visibleText(name)}`),
        ...differs.renamed.map(
          ({ wanted, found }) => `with ${visibleText(found)} for ${visibleText(wanted)}`,
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

/** Returns a line per difference. A field that no column names is left out if all files have it. */
export const differenceLines = (files: readonly FileSummary[]): string[] => {
  const tables = [...new Set(files.map(({ table }) => table))];
  const lines = tables.flatMap((name) =>
    linesOfTable(
      name,
      files.filter(({ table }) => table === name),
    ),
  );
  return lines.length === 0 ? [] : ['', 'Headers that differ:', ...lines];
};
