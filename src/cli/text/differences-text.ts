// How the headers of a run's files differ, as `etl status` prints it.

import type { FileSummary } from '../../ledger/history/history.ts';
import { firstOf, plural } from '../../core/wording.ts';
import { visibleText } from '../layout.ts';

/** Files that a line names. */
const filesShown = 3;

/** What is said of the header of a file, one text a difference. */
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
    .filter(([text, those]) => those.length < files.length || !text.endsWith('which no column names'))
    .map(([text, those]) => {
      const names = firstOf(those.map(visibleText), filesShown).join(', ');
      const count =
        those.length === files.length ? 'all files' : `${those.length} of ${plural(files.length, 'file')}`;
      return `${visibleText(table)}: ${count} ${text}: ${names}`;
    });
};

/** One line a difference. What no column names in any file of a table is none between them. */
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
