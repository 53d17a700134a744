// Compares the recount of files with production.

import type { LoadedFile } from '../../ledger/production/loaded-files.ts';
import type { ComparedColumn } from './compared-columns.ts';
import type { CountedFile } from './count-file.ts';
import type { VerifyDifference } from './report.ts';
import { decimalText, type ColumnSums, type RowSums } from './row-sums.ts';

type What = VerifyDifference['what'];

const difference = (
  file: string | null,
  column: string | null,
  what: What,
  expected: unknown,
  found: unknown,
): VerifyDifference => ({ file, column, what, expected: String(expected), found: String(found) });

const shown = (hash: bigint): string => BigInt.asUintN(64, hash).toString(16).padStart(16, '0');

const compareColumn = (
  file: string | null,
  column: string,
  expected: ColumnSums,
  found: ColumnSums,
): readonly VerifyDifference[] => {
  const differences: VerifyDifference[] = [];
  if (expected.nulls !== found.nulls)
    differences.push(difference(file, column, 'nulls', expected.nulls, found.nulls));
  const sums = [expected.sum, found.sum].map((sum) => (sum === null ? '' : decimalText(sum)));
  if (sums[0] !== sums[1]) differences.push(difference(file, column, 'sum', sums[0], sums[1]));
  else if (expected.hash !== null && found.hash !== null && expected.hash !== found.hash)
    differences.push(difference(file, column, 'checksum', shown(expected.hash), shown(found.hash)));
  return differences;
};

/**
 * Compares one file, or all files (`null`), with production. Reports `pairing` if all counts and
 * columns are equal, but the rows differ: values were exchanged between rows.
 */
export const compareRows = (
  file: string | null,
  columns: readonly ComparedColumn[],
  expected: RowSums,
  found: RowSums,
): readonly VerifyDifference[] => {
  const rows =
    expected.rows === found.rows ? [] : [difference(file, null, 'rows', expected.rows, found.rows)];
  const ofColumns = columns.flatMap(({ spec }, index) =>
    compareColumn(file, spec.name, expected.columns[index]!, found.columns[index]!),
  );
  const isMixed = rows.length + ofColumns.length === 0 && expected.rowHash !== found.rowHash;
  const mixed = isMixed
    ? [difference(file, null, 'pairing', shown(expected.rowHash), shown(found.rowHash))]
    : [];
  return [...rows, ...ofColumns, ...mixed];
};

export const compareCounts = (
  { name, records, rows, rejected, filtered }: LoadedFile,
  counted: CountedFile,
): readonly VerifyDifference[] => {
  const pairs: readonly (readonly [What, number, number | null])[] = [
    ['records', counted.records, records],
    ['rejected', counted.rejected, rejected],
    ['filtered', counted.filtered, filtered],
    ['rows', counted.sums.rows, rows],
  ];
  return pairs.flatMap(([what, expected, found]) =>
    found === null || expected === found ? [] : [difference(name, null, what, expected, found)],
  );
};

export const missingColumn = (column: string): VerifyDifference =>
  difference(null, column, 'column', 'a column', 'none');

export const unread = (file: string, problem: string): VerifyDifference =>
  difference(file, null, 'reading', problem, 'loaded without such a reject');

export const foreignRows = (rows: number): VerifyDifference =>
  difference(null, null, 'rows', '0 of other files', `${rows} of other files, or of none`);
