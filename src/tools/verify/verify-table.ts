// Verifies one table: recounts its files and compares the sums with production.

import type { FilesOfOthers } from '../../ledger/production/loaded-files.ts';
import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { tableOfFile, type SourceTableSpec } from '../../core/declaration.ts';
import { foreignTo, NotForCsvParse } from '../../format/records/csv-records.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { compareCounts, compareRows, foreignRows, missingColumn, unread } from './compare.ts';
import { comparedColumns, type ComparedColumns } from './compared-columns.ts';
import { countFile, type CountedFile } from './count-file.ts';
import type { KnownFile } from './known-files.ts';
import type { NotVerified, VerifiedFile, VerifiedTable, VerifyDifference } from './report.ts';
import { addLosses } from './lost-texts.ts';
import { addRows, noRows, type RowSums } from './row-sums.ts';

export interface Production {
  readonly there: ReadonlyMap<string, string> | undefined;
  readonly others: FilesOfOthers;
  /** By file id if the table has the column _file, otherwise by null; undefined if not counted. */
  readonly sums: ReadonlyMap<string | null, RowSums> | undefined;
}

export const whyNotRows = (
  table: SourceTableSpec,
  files: readonly KnownFile[],
  rows: number,
): string | undefined => {
  const { whyNotRows: why } = meaningOf(table.publish);
  if (table.transform !== undefined) return 'SQL makes its rows from the records';
  if (why === undefined) return undefined;
  const copied = files.reduce((sum, file) => sum + file.rows, 0);
  // If no record has replaced the row of another record, each record is a row.
  if (rows === copied && !files.some(({ isMerged }) => isMerged)) return undefined;
  return why(copied, rows);
};

const unclear = `its rows do not record their file, as \`lineage: ['_file']\` does, and not all files could be counted`;

const unclearOfOthers = ({ pipelines }: FilesOfOthers): string =>
  `rows of pipeline ${pipelines.join(', ')} are in it, too, and rows do not record their file, as \`lineage: ['_file']\` does`;

interface Counted {
  readonly file: KnownFile;
  readonly counted: CountedFile;
}

interface Findings {
  readonly counted: Counted[];
  readonly differences: VerifyDifference[];
  readonly notCompared: NotVerified[];
}

const countFiles = async (
  client: Client,
  table: SourceTableSpec,
  files: readonly KnownFile[],
  { columns }: ComparedColumns,
  signal: AbortSignal | undefined,
): Promise<Findings> => {
  const found: Findings = { counted: [], differences: [], notCompared: [] };
  const skip = (file: string, reason: string): void =>
    void found.notCompared.push({ file, column: null, reason });
  for (const file of files) {
    if (file.listed === undefined) {
      skip(file.name, file.reason);
      continue;
    }
    const read = tableOfFile(table, file.listed);
    const foreign = foreignTo(read.format.dialect);
    if (foreign !== undefined) skip(file.name, `csv-parse reads \`${foreign}\` differently from the dialect`);
    else if (table.staging === 'text')
      skip(file.name, 'its fields are loaded as they are, and SQL reads them');
    else
      try {
        const counted = await countFile(client, read, file.listed, file, signal, columns);
        found.counted.push({ file, counted });
        found.differences.push(...compareCounts(file, counted));
      } catch (error) {
        if (!(error instanceof NotForCsvParse)) throw error;
        if (error.isFault) found.differences.push(unread(file.name, error.message));
        else skip(file.name, error.message);
      }
  }
  return found;
};

/** Compares each file with its own rows. Rows of other pipelines' files are ignored. */
const compareFiles = (
  files: readonly KnownFile[],
  counted: readonly Counted[],
  { columns }: ComparedColumns,
  sums: ReadonlyMap<string | null, RowSums>,
  ofOthers: FilesOfOthers,
): readonly VerifyDifference[] => {
  const comparing = columns.map((column) => column.comparing);
  const known = new Set([...files.map(({ id }) => String(id)), ...ofOthers.files]);
  const others = [...sums].filter(([id]) => id === null || !known.has(id));
  const foreign = others.reduce((rows, [, { rows: more }]) => rows + more, 0);
  return [
    ...counted.flatMap(({ file, counted: { sums: expected } }) =>
      compareRows(file.name, columns, expected, sums.get(String(file.id)) ?? noRows(comparing)),
    ),
    ...(foreign > 0 ? [foreignRows(foreign)] : []),
  ];
};

const compareTable = (
  counted: readonly Counted[],
  { columns }: ComparedColumns,
  found: RowSums,
): readonly VerifyDifference[] => {
  const none = noRows(columns.map(({ comparing }) => comparing));
  const expected = counted.reduce((sum, { counted: { sums } }) => addRows(sum, sums), none);
  const [only, ...others] = counted;
  const name = only !== undefined && others.length === 0 ? only.file.name : null;
  return compareRows(name, columns, expected, found);
};

const verifiedFile = ({ file, counted }: Counted): VerifiedFile => ({
  file: file.name,
  run: file.runId,
  records: counted.records,
  rows: counted.sums.rows,
  rejected: counted.rejected,
  filtered: counted.filtered,
});

/** Removes duplicates: the same fault can be found in the ledger and in production. */
const eachOnce = (differences: readonly VerifyDifference[]): readonly VerifyDifference[] => [
  ...new Map(differences.map((one) => [JSON.stringify(one), one])).values(),
];

/** True if no run has used the current definition yet: then production may lack new columns. */
const isAwaited = (files: readonly KnownFile[]): boolean =>
  files.some(({ isRedefined }) => isRedefined) &&
  files.every(({ isRedefined, staged }) => isRedefined || staged === null);

const awaitedColumn = (column: string): NotVerified => ({
  file: null,
  column,
  reason: 'production does not have it yet: run the pipeline with this definition first',
});

export const columnsInProduction = (
  table: SourceTableSpec,
  there: ReadonlyMap<string, string>,
): ComparedColumns & { readonly missing: readonly string[] } => {
  const all = comparedColumns(table);
  const has = (name: string): boolean => there.has(name);
  return {
    ...all,
    columns: all.columns.filter(({ spec }) => has(spec.name)),
    fileColumn: all.fileColumn !== undefined && has(all.fileColumn) ? all.fileColumn : undefined,
    missing: all.columns.map(({ spec }) => spec.name).filter((name) => !has(name)),
  };
};

export const verifyTable = async (
  client: Client,
  table: SourceTableSpec,
  files: readonly KnownFile[],
  wanted: readonly KnownFile[],
  { there, others, sums }: Production,
  signal: AbortSignal | undefined,
): Promise<VerifiedTable> => {
  const columns = columnsInProduction(table, there ?? new Map());
  const rows = sums === undefined ? null : [...sums.values()].reduce((sum, one) => sum + one.rows, 0);
  const { counted, ...found } = await countFiles(client, table, wanted, columns, signal);
  const notCompared = [...found.notCompared];
  const differences = [...found.differences];
  const ofTable = (reason: string): void => void notCompared.push({ file: null, column: null, reason });
  let by: VerifiedTable['by'] = null;
  if (there === undefined) {
    const [expected, name] = [files.reduce((sum, file) => sum + file.rows, 0), quoteName(table.name)];
    differences.push({
      file: null,
      column: null,
      what: 'rows',
      expected: String(expected),
      found: `no table ${name}`,
    });
  } else if (files.length === 0) ofTable('no file of the pipeline is in this table');
  else {
    if (isAwaited(files)) notCompared.push(...columns.missing.map(awaitedColumn));
    else differences.push(...columns.missing.map(missingColumn));
    const why = whyNotRows(table, files, rows!);
    if (why !== undefined) ofTable(why);
    else if (columns.fileColumn !== undefined) {
      by = counted.length > 0 ? 'file' : null;
      differences.push(...compareFiles(files, counted, columns, sums!, others));
    } else if (others.files.size > 0) ofTable(unclearOfOthers(others));
    else if (counted.length === files.length) {
      by = 'table';
      differences.push(...compareTable(counted, columns, sums!.values().next().value!));
    } else ofTable(unclear);
    if (by !== null) notCompared.push(...columns.notCompared);
  }
  const isCompared = by !== null || differences.length > 0;
  return {
    table: table.name,
    outcome: differences.length > 0 ? 'different' : isCompared ? 'same' : 'not compared',
    by,
    rows,
    columns: by === null ? 0 : columns.columns.length,
    files: counted.map(verifiedFile),
    differences: eachOnce(differences),
    notCompared,
    losses: addLosses(counted.flatMap(({ counted: { losses } }) => losses)),
  };
};
