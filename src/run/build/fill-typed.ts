// Fills a typed table aside: with the rows of staging, or with one row per key if rows are merged.

import type { Extent, MergeSpec, SourceTableSpec } from '../../core/declaration/declaration.ts';
import { runQuery } from '../../db/client.ts';
import { countRows } from '../../db/rows.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { stagingTable } from '../../db/staging.ts';
import { createAs } from '../../publish/table/storage.ts';
import { createFromStaging, createShape, setNotNull } from '../../publish/aside/build-table.ts';
import { createMerged, hasTwice, lastRecords } from '../../publish/modes/merge/merge-rows.ts';
import { selectVersions, type Versioned } from '../../publish/modes/history/versions.ts';
import { builtName, mergeColumns, type TableNames } from '../../db/names.ts';
import { type BuiltTable, type MergeRules, publishedColumns } from '../../publish/table/tables.ts';
import type { BuildContext } from '../context.ts';
import { landsDirectly } from '../../db/landing.ts';

/** Rows that were built. */
export type Filled = Pick<
  BuiltTable,
  'rows' | 'rowsFrom' | 'staged' | 'deletions' | 'partitions' | 'touched'
>;

/** Where each row takes the place of at most one record. */
export const eachStaged = (rows: number, rowsFrom: string): Filled => ({
  rows,
  rowsFrom,
  staged: rows,
  deletions: 0,
});

/** How many keys an error names. */
const twiceMax = 5;

/** Errors: ETL_DUPLICATE_ROWS, with file and line of both records. */
const refuseTwice = async (
  { client }: BuildContext,
  { name: table, primaryKey }: SourceTableSpec,
  staging: string,
): Promise<void> => {
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

/** The versions of all rows, or where the records are that become some. */
const fillVersions = async (
  { client, spec }: BuildContext,
  table: SourceTableSpec,
  names: TableNames,
  extent: Extent,
  merge: Versioned['merge'],
): Promise<Filled> => {
  const staging = stagingTable(spec.name, table.name);
  const columns = publishedColumns(table).map(({ name }) => name);
  const staged = await countRows(client, staging);
  const all = selectVersions({ primaryKey: table.primaryKey, columns, merge, staging });
  const create = `${createAs(names)} ${all}`;
  const made = await client.query(extent === 'whole' ? create : `${create} with no data`);
  return extent === 'whole'
    ? { rows: made.rowCount ?? 0, rowsFrom: builtName(names), staged, deletions: 0 }
    : { rows: staged, rowsFrom: staging, staged, deletions: 0 };
};

/** The rows of a table that are merged, or all that it will have, where each key is once. */
const fillMerged = async (
  context: BuildContext,
  table: SourceTableSpec,
  names: TableNames,
  extent: Extent,
  merge: MergeRules,
): Promise<Filled> => {
  const { client, spec } = context;
  const staging = stagingTable(spec.name, table.name);
  const { primaryKey } = table;
  const columns = publishedColumns(table).map(({ name }) => name);
  const records = await countRows(client, staging);
  const isTwice = await hasTwice(client, { primaryKey, staging });
  if (isTwice && (table.publish as MergeSpec).twice === 'reject') await refuseTwice(context, table, staging);
  const staged = { names, primaryKey, columns, merge, staging, records, hasTwice: isTwice };
  const filled = await (extent === 'whole' ? createMerged : lastRecords)(client, staged);
  if (extent === 'part') await runQuery(client, createShape(names, columns, staging));
  return { ...filled, staged: records };
};

/** All rows of staging: in the new table, or counted for the one that is there. */
const fillAll = async (
  { client, spec }: BuildContext,
  table: SourceTableSpec,
  names: TableNames,
  extent: Extent,
): Promise<Filled> => {
  const rowsFrom = builtName(names);
  // The rows are there already; they are counted, because the proof of completeness uses the actual count, not the reported one.
  if (landsDirectly(table)) return eachStaged(await countRows(client, rowsFrom), rowsFrom);
  const staging = stagingTable(spec.name, table.name);
  const columns = table.columns.map(({ name }) => name);
  const create = extent === 'whole' ? createFromStaging : createShape;
  const filled = await runQuery(client, create(names, columns, staging));
  return extent === 'whole'
    ? eachStaged(filled.rowCount ?? 0, rowsFrom)
    : eachStaged(await countRows(client, staging), staging);
};

/** Rows of a typed table, from staging, unless they were loaded straight into it, or go from there into production. */
export const fillTyped = async (
  context: BuildContext,
  table: SourceTableSpec,
  names: TableNames,
  extent: Extent,
  merge: MergeRules | undefined,
): Promise<Filled> => {
  const versions = merge?.versions;
  const filled = await (merge === undefined
    ? fillAll(context, table, names, extent)
    : versions === undefined
      ? fillMerged(context, table, names, extent, merge)
      : fillVersions(context, table, names, extent, { ...merge, versions }));
  const required = publishedColumns(table).filter(({ nullable }) => !nullable);
  if (required.length > 0 && !landsDirectly(table))
    await runQuery(
      context.client,
      setNotNull(
        names,
        required.map(({ name }) => name),
      ),
    );
  return filled;
};
