// The rows that a run brings to a table whose rows are merged: one record of each primary key, the last.

import type { Client } from '../../../db/client.ts';
import { quoteName, quoteNames, quoteText } from '../../../db/sql.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { createAs } from '../../table/storage.ts';
import { isDeletion } from './merge-sql.ts';
import { builtName, mergeColumns, onceName, type TableNames } from '../../../db/names.ts';
import type { BuiltTable, MergeRules } from '../../table/tables.ts';

/** What the rows are made from. */
export interface Staged {
  readonly names: TableNames;
  readonly primaryKey: readonly string[];
  /** Those of production. */
  readonly columns: readonly string[];
  readonly merge: MergeRules;
  /** Quoted name, and how many records it has. */
  readonly staging: string;
  readonly records: number;
  /** Whether a key occurs twice. */
  readonly hasTwice: boolean;
}

const withDeleted = ({ columns, merge }: Pick<Staged, 'columns' | 'merge'>): string =>
  quoteNames(merge.deletes ? [...columns, mergeColumns.deleted] : columns);

/**
 * Whether staging has a key twice. Sorting the keys for an index takes a third of the time of grouping them, and several processes
 * sort. The index is not kept, because corrected records may still come. It is dropped, which the commit does, and not rolled back:
 * the files of an unlogged index that is rolled back can keep a server that crashes at that moment from its first recovery
 * (test/integration/unlogged.test.ts, "the keys of a merge"). One that a repeated key has stopped has no such file yet. Called in a
 * transaction.
 */
export const hasTwice = async (
  client: Client,
  { primaryKey, staging }: Pick<Staged, 'primaryKey' | 'staging'>,
): Promise<boolean> => {
  await client.query('savepoint twice');
  try {
    await client.query(`create unique index on ${staging} (${quoteNames(primaryKey)})`);
  } catch (cause) {
    if (codeOf(cause) !== '23505') throw cause;
    await client.query('rollback to savepoint twice; release savepoint twice');
    return true;
  }
  const { rows } = await client.query(
    `select format('release savepoint twice; drop index %s', indexrelid::regclass) as "drop" from pg_index
      where indrelid = ${quoteText(staging)}::regclass`,
  );
  await client.query(rows[0].drop);
  return false;
};

/** One record of each key, in SQL: the last, by `newer` if there is one, then by file and line. */
const selectLast = (staged: Staged): string => {
  const { primaryKey, merge, staging } = staged;
  const key = quoteNames(primaryKey);
  const newest = merge.newer === undefined ? '' : `${quoteName(merge.newer)} desc nulls last,`;
  const { file, line } = mergeColumns;
  return `select distinct on (${key}) ${withDeleted(staged)}
    from ${staging} join (select id, ordinal from etl.source_file) f (_etl_id, _etl_ordinal) on _etl_id = ${quoteName(file)}
    order by ${key}, ${newest} _etl_ordinal desc, ${quoteName(line)} desc`;
};

/** Where the rows are, and how many. */
type Merged = Pick<BuiltTable, 'rowsFrom' | 'rows' | 'deletions'>;

/** The rows for a table that is there: those of staging itself, unless a key is there twice. */
export const lastRecords = async (client: Client, staged: Staged): Promise<Merged> => {
  const { names, staging, merge, records } = staged;
  if (!staged.hasTwice && !merge.deletes) return { rowsFrom: staging, rows: records, deletions: 0 };
  const rowsFrom = staged.hasTwice ? quoteName(names.buildSchema, onceName(names.table)) : staging;
  if (staged.hasTwice) await client.query(`create unlogged table ${rowsFrom} as ${selectLast(staged)}`);
  const deletion = isDeletion(merge, 'n');
  const { rows } = await client.query(
    `select count(*) filter (where not ${deletion})::float8 as rows, count(*) filter (where ${deletion})::float8 as deletions
      from ${rowsFrom} n`,
  );
  return { rowsFrom, ...rows[0] };
};

/** Creates the table of all rows. */
export const createMerged = async (client: Client, staged: Staged): Promise<Merged> => {
  const { names, columns, staging, merge } = staged;
  const rowsFrom = builtName(names);
  const records = staged.hasTwice ? `(${selectLast(staged)})` : staging;
  const { rowCount } = await client.query(
    `${createAs(names)} select ${quoteNames(columns)} from ${records} n where not ${isDeletion(merge, 'n')}`,
  );
  return { rowsFrom, rows: rowCount ?? 0, deletions: 0 };
};
