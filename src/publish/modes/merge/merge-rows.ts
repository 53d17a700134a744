// Finds the rows that a run supplies for a merged table: the last record of each primary key.

import type { Client } from '../../../db/client.ts';
import { countRows } from '../../../db/rows.ts';
import { quoteName, quoteNames, quoteText } from '../../../db/sql.ts';
import { codeOf, EtlError } from '../../../core/errors/errors.ts';
import { createShape } from '../../aside/build-table.ts';
import { createFilled } from '../../table/distribution.ts';
import { createWith } from '../../table/storage.ts';
import { isDeletion } from './merge-sql.ts';
import { besideName, builtName, mergeColumns } from '../../../db/names.ts';
import { publishedColumns } from '../../table/tables.ts';
import type { Filled, Filling, Mode } from '../contract.ts';

interface Staged extends Filling {
  readonly columns: readonly string[];
  readonly records: number;
  readonly isTwice: boolean;
}

const withDeleted = ({ columns, names: { mode } }: Staged): string =>
  quoteNames(mode.deletes === true ? [...columns, mergeColumns.deleted] : columns);

/**
 * Returns true if a key occurs twice in staging. Building an index takes a third of the time of
 * grouping. The index is dropped, because corrected records may be added. It is not rolled back:
 * after a crash just then, the index's file would make recovery fail
 * (test/integration/unlogged.test.ts, "the keys of a merge"). Needs a transaction.
 */
export const hasTwice = async (
  client: Client,
  { primaryKey, staging }: { readonly primaryKey: readonly string[]; readonly staging: string },
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

const selectLast = (staged: Staged): string => {
  const { names, staging } = staged;
  const { newer } = names.mode.merge!;
  const key = quoteNames(names.primaryKey);
  const newest = newer === undefined ? '' : `${quoteName(newer)} desc nulls last,`;
  const { file, line } = mergeColumns;
  return `select distinct on (${key}) ${withDeleted(staged)}
    from ${staging} join (select id, ordinal from etl.source_file) f (_etl_id, _etl_ordinal) on _etl_id = ${quoteName(file)}
    order by ${key}, ${newest} _etl_ordinal desc, ${quoteName(line)} desc`;
};

type Merged = Pick<Filled, 'rowsFrom' | 'rows' | 'deletions'>;

/** Returns the rows for an existing table: staging itself, if no key is repeated. */
const lastRecords = async (staged: Staged): Promise<Merged> => {
  const { client, names, staging, records, isTwice } = staged;
  if (!isTwice && names.mode.deletes !== true) return { rowsFrom: staging, rows: records, deletions: 0 };
  const rowsFrom = isTwice ? quoteName(names.buildSchema, besideName(names.table, 'once')) : staging;
  if (isTwice) await client.query(`create unlogged table ${rowsFrom} as ${selectLast(staged)}`);
  const deletion = isDeletion(names.mode, 'n');
  const { rows } = await client.query(
    `select count(*) filter (where not ${deletion})::float8 as rows, count(*) filter (where ${deletion})::float8 as deletions
      from ${rowsFrom} n`,
  );
  return { rowsFrom, ...rows[0] };
};

const createMerged = async (staged: Staged): Promise<Merged> => {
  const { client, names, columns, staging, isTwice, whenCreated } = staged;
  const records = isTwice ? `(${selectLast(staged)})` : staging;
  const select = `select ${quoteNames(columns)} from ${records} n where not ${isDeletion(names.mode, 'n')}`;
  const rows = await createFilled(client, names, select, whenCreated);
  return { rowsFrom: builtName(names), rows, deletions: 0 };
};

const twiceMax = 5;

const refuseTwice = async ({ client, names: { table, primaryKey }, staging }: Filling): Promise<void> => {
  const { file, line } = mergeColumns;
  const list = quoteNames(primaryKey);
  const keys = primaryKey.map((name) => `s.${quoteName(name)}`);
  const { rows } = await client.query(
    `select string_agg(f.name || ':' || ${quoteName(line)}, ' and ' order by f.ordinal, ${quoteName(line)}) as places,
        array_to_string(array[${keys.map((name) => `${name}::text`).join(', ')}], ', ') as key
      from ${staging} s join etl.source_file f on f.id = ${quoteName(file)}
      where (${keys.join(', ')}) in (select ${list} from ${staging} group by ${list} having count(*) > 1)
      group by ${keys.join(', ')}
      order by min(f.ordinal), min(${quoteName(line)}) limit ${twiceMax}`,
  );
  if (rows.length === 0) return;
  const records = rows.map(({ places, key }) => `${places} (${key})`).join('; ');
  throw new EtlError('ETL_DUPLICATE_ROWS', { table, key: `primary key (${primaryKey.join(', ')})`, records });
};

export const fillMerged: Mode['fillTable'] = async (work) => {
  const { client, table, names, staging } = work;
  const columns = publishedColumns(table).map(({ name }) => name);
  const records = await countRows(client, staging);
  const isTwice = await hasTwice(client, { primaryKey: names.primaryKey, staging });
  if (isTwice && names.mode.merge!.twice === 'reject') await refuseTwice(work);
  const staged = { ...work, columns, records, isTwice };
  const filled = await (names.extent === 'whole' ? createMerged : lastRecords)(staged);
  if (names.extent === 'part')
    await createWith(client, createShape(names, columns, staging), work.whenCreated);
  return { ...filled, staged: records };
};
