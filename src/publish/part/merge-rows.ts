// The rows that a run brings to a table whose rows are merged: one record of each primary key, the last.

import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { createAs } from '../attributes/storage.ts';
import { isDeletion } from './merge-sql.ts';
import {
  builtName,
  mergeColumns,
  onceName,
  type BuiltTable,
  type MergeRules,
  type TableNames,
} from '../names.ts';

/** What of a run's staging the rows are made of. */
export interface Staged {
  readonly names: TableNames;
  readonly primaryKey: readonly string[];
  /** Those of production. */
  readonly columns: readonly string[];
  readonly merge: MergeRules;
  /** Quoted name. */
  readonly staging: string;
}

const withDeleted = ({ columns, merge }: Pick<Staged, 'columns' | 'merge'>): string =>
  quoteNames(merge.deletes ? [...columns, mergeColumns.deleted] : columns);

const hasTwice = async (client: Client, { primaryKey, staging }: Staged): Promise<boolean> => {
  const key = quoteNames(primaryKey);
  const { rows } = await client.query(
    `select exists (select from ${staging} group by ${key} having count(*) > 1) as "hasTwice"`,
  );
  return rows[0].hasTwice;
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
  const { names, staging, merge } = staged;
  let rowsFrom = staging;
  if (await hasTwice(client, staged)) {
    rowsFrom = quoteName(names.buildSchema, onceName(names.table));
    await client.query(`create unlogged table ${rowsFrom} as ${selectLast(staged)}`);
  }
  const deletion = isDeletion(merge, 'n');
  const { rows } = await client.query(
    `select count(*) filter (where not ${deletion})::float8 as rows, count(*) filter (where ${deletion})::float8 as deletions
      from ${rowsFrom} n`,
  );
  return { rowsFrom, ...rows[0] };
};

/** Makes the table of all rows. */
export const createMerged = async (client: Client, staged: Staged): Promise<Merged> => {
  const { names, columns, staging, merge } = staged;
  const rowsFrom = builtName(names);
  const records = (await hasTwice(client, staged)) ? `(${selectLast(staged)})` : staging;
  const { rowCount } = await client.query(
    `${createAs(names)} select ${quoteNames(columns)} from ${records} n where not ${isDeletion(merge, 'n')}`,
  );
  return { rowsFrom, rows: rowCount ?? 0, deletions: 0 };
};
