// Creates views for SQL that reads a table of the run: all rows that the table will have and, if
// only some files were loaded, the new rows and the rows that they replace.

import { runQuery, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { serverColumnsOf, withServerColumns } from '../table/server-columns.ts';
import { evolvedColumns } from '../alter/evolve.ts';
import { isStoredByCitus } from '../table/distribution.ts';
import { newName, oldName, productionName } from '../../db/names.ts';
import type { BuiltTable } from '../table/tables.ts';
import { builtStates, columnsOf, writtenColumns } from '../table/table-state.ts';
import type { Seen } from './contract.ts';
import { modeOf } from './registry.ts';
import { publishRefusal } from '../refusals.ts';

/** Adds generated columns, but no identity columns, which have no value yet. */
const completed = ({ attributes }: BuiltTable, rows: Seen): Seen => {
  const generated = serverColumnsOf(attributes).filter(({ kind }) => kind === 'generated');
  if (generated.length === 0) return rows;
  const withGenerated = (sql: string): string =>
    `select * from ${withServerColumns(`(${sql})`, { serverColumns: generated })}`;
  return {
    whole: withGenerated(rows.whole),
    new: withGenerated(rows.new),
    old: withGenerated(rows.old),
  };
};

/**
 * True if SQL must see a copy of the rows. From a view of local rows beside those of a distributed
 * table, Citus returns nulls, or refuses it (test/services/citus.test.ts, "SQL that reads").
 */
const needsCopy = async (client: Client, table: BuiltTable): Promise<boolean> =>
  table.extent === 'part' &&
  table.mode.rowsKnownBy === 'key' &&
  (await isStoredByCitus(client, productionName(table)));

export const partRows = async (client: Client, table: BuiltTable): Promise<Seen> => {
  const [state] = await builtStates(client, [table]);
  const written = writtenColumns(state!.columns);
  const names = written.map((column) => column.name);
  const [columns] = await columnsOf(client, [productionName(table)]);
  const there = `select ${evolvedColumns(table, written, columns!)} from ${productionName(table)}`;
  const production = (await needsCopy(client, table))
    ? `(with _etl_there as materialized (${there}) select * from _etl_there)`
    : `(${there})`;
  return completed(table, modeOf(table).part!.see(table, state!, names, production));
};

/**
 * Fails if policies hide rows from us: the SQL would take the visible rows for all. Needs a
 * transaction. Errors: ETL_PUBLISH_REFUSED. Proved by test/modes/hidden-rows.test.ts.
 */
export const refuseHiddenRows = async (
  client: Client,
  schema: string,
  tables: readonly string[],
): Promise<void> => {
  const { rows } = await client.query(
    `select n.name from unnest($1::text[], $2::text[]) as n (name, quoted) where row_security_active(to_regclass(n.quoted)::oid) limit 1`,
    [tables, tables.map((table) => quoteName(schema, table))],
  );
  if (rows.length === 0) return;
  const { name } = rows[0];
  await client
    .query(`set local row_security = off; select from ${quoteName(schema, name)} limit 0`)
    .catch((cause: unknown) => {
      throw publishRefusal(name, cause);
    });
};

/** Returns the SQL of each view by name. `isAll`: the reader treats all rows as new. */
const viewsOf = async (
  client: Client,
  table: BuiltTable,
  isAll: boolean,
): Promise<ReadonlyMap<string, string>> => {
  const { table: name, extent } = table;
  const all = `select * from ${quoteName(table.buildSchema, name)}`;
  const unchanged = [
    [newName(name), all],
    [oldName(name), `${all} where false`],
  ] as const;
  if (extent === 'whole') return new Map(unchanged);
  const rows = await partRows(client, table);
  const changes = [
    [newName(name), rows.new],
    [oldName(name), rows.old],
  ] as const;
  return new Map([[name, rows.whole], ...(isAll ? unchanged : changes)]);
};

/**
 * Creates the wanted views, or tables where SQL must see a copy; without rows for a rehearsal.
 * Returns statements that drop them.
 */
export const showRows = async (
  client: Client,
  table: BuiltTable,
  isAll: boolean,
  isWanted: (name: string) => boolean,
  isRehearsal: boolean,
): Promise<readonly string[]> => {
  const drops: string[] = [];
  const isCopied = await needsCopy(client, table);
  const kind = isCopied ? 'table' : 'view';
  // Row security could hide rows from the copy. With `off`, this is an error.
  const before = isCopied ? 'set local row_security = off; create unlogged' : 'create';
  const after = isCopied && isRehearsal ? ' with no data' : '';
  for (const [name, rows] of await viewsOf(client, table, isAll)) {
    if (!isWanted(name)) continue;
    const shown = quoteName(table.buildSchema, name);
    await runQuery(client, { text: `${before} ${kind} ${shown} as ${rows}${after}` });
    drops.unshift(`drop ${kind} ${shown}`);
  }
  return drops;
};
