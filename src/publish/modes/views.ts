// What SQL sees of a table to which a run brings rows: all that it will have; for tables that are merged also those of the run alone,
// and those that they take the place of.

import { runQuery, type Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { serverColumnsOf, withServerColumns } from '../table/server-columns.ts';
import { evolvedColumns } from '../alter/evolve.ts';
import { isTouched, versionedOf } from './history/history.ts';
import { selectVersions } from './history/versions.ts';
import { changingColumns, isDeletion, isOlder, keyOf } from './merge/merge-sql.ts';
import { fileColumn, newName, oldName, productionName } from '../../db/names.ts';
import type { BuiltTable, Touched } from '../table/tables.ts';
import { builtStates, columnsOf, haveSame, writtenColumns, type BuiltState } from '../table/table-state.ts';
import { refusalOf } from '../refusals.ts';

/** The three selections of a table. */
interface Rows {
  readonly whole: string;
  readonly new: string;
  readonly old: string;
}

/** Rows are added, and those of some files leave. */
const appended = (part: BuiltTable, names: readonly string[], production: string): Rows => {
  const list = quoteNames(names);
  const there = `select ${list} from ${production} o`;
  const isLeaving = `${quoteName(fileColumn)} = any ('{${part.outgoing.files.join(',')}}'::bigint[])`;
  const [staying, leaving] =
    part.outgoing.files.length === 0 ? ['true', 'false'] : [`not ${isLeaving}`, isLeaving];
  const come = `select ${list} from ${part.rowsFrom}`;
  return {
    whole: `${there} where ${staying} union all ${come}`,
    new: come,
    old: `${there} where ${leaving}`,
  };
};

/** The rows of some partitions are replaced. */
const replaced = (
  { rowsFrom }: BuiltTable,
  { where }: Touched,
  names: readonly string[],
  production: string,
): Rows => {
  const list = quoteNames(names);
  const there = `select ${list} from ${production} o`;
  const come = `select ${list} from ${rowsFrom}`;
  return {
    whole: `${there} where not (${where}) union all ${come}`,
    new: come,
    old: `${there} where ${where}`,
  };
};

/** Rows as they are merged: of each key that of the run, unless what is there is newer. */
const merged = (part: BuiltTable, state: BuiltState, names: readonly string[], production: string): Rows => {
  const key = keyOf(state);
  const [comes, isThere] = ['n', 'o'].map((alias) => `${alias}.${quoteName(key.columns[0]!)} is not null`);
  const counts = `${comes} and not (${isThere} and ${isOlder(part.merge!)})`;
  const changing = changingColumns(part, names);
  const columns = names.map((name) => {
    const [n, o] = [`n.${quoteName(name)}`, `o.${quoteName(name)}`];
    const takes = changing.includes(name) ? counts : `not (${isThere})`;
    return `case when ${takes} then ${n} else ${o} end as ${quoteName(name)}`;
  });
  const from = (join: string): string =>
    `from ${part.rowsFrom} n ${join} join ${production} o on ${haveSame(key, 'n', 'o')}`;
  const deletion = isDeletion(part.merge!, 'n');
  return {
    whole: `select ${columns.join(', ')} ${from('full')} where not (${counts} and ${deletion})`,
    new: `select ${columns.join(', ')} ${from('left')} where ${counts} and not ${deletion}`,
    old: `select ${names.map((name) => `o.${quoteName(name)}`).join(', ')} ${from('inner')} where ${counts}`,
  };
};

/** Rows of versions: all of the keys of a run are new. */
const versioned = (
  part: BuiltTable,
  state: BuiltState,
  names: readonly string[],
  production: string,
): Rows => {
  const touched = isTouched(part, keyOf(state));
  const list = quoteNames(names);
  const come = `select ${list} from (${selectVersions(versionedOf(part, names), { rows: production, isTouched: touched })}) t`;
  const there = `select ${list} from ${production} o`;
  return {
    whole: `${there} where not ${touched} union all ${come}`,
    new: come,
    old: `${there} where ${touched}`,
  };
};

/** Adds generated columns, which the server will compute. Identity columns have no value yet. */
const completed = ({ attributes }: BuiltTable, rows: Rows): Rows => {
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

/** The selections of a table that stays. */
export const partRows = async (client: Client, table: BuiltTable): Promise<Rows> => {
  const [state] = await builtStates(client, [table]);
  const written = writtenColumns(state!.columns);
  const names = written.map((column) => column.name);
  const [columns] = await columnsOf(client, [productionName(table)]);
  const production = `(select ${evolvedColumns(table, written, columns!)} from ${productionName(table)})`;
  if (table.touched !== undefined) return completed(table, replaced(table, table.touched, names, production));
  if (table.merge === undefined) return completed(table, appended(table, names, production));
  const select = table.merge.versions === undefined ? merged : versioned;
  return completed(table, select(table, state!, names, production));
};

/**
 * Refuses tables in production, by these names, whose policies hide rows from us: SQL would take what it sees for all of them, without a
 * word. Called in a transaction. Errors: ETL_PUBLISH_REFUSED. Proved by test/modes/hidden-rows.test.ts.
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
      throw refusalOf(name, cause);
    });
};

/** Views of a table by their names in the build schema. `isAll`: all its rows are new to the SQL that reads them. */
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
 * Makes those views of a table that are wanted, by their names, where SQL looks for its tables, and returns the statements that drop
 * them. Others who show the same table wait meanwhile.
 */
export const showRows = async (
  client: Client,
  table: BuiltTable,
  isAll: boolean,
  isWanted: (name: string) => boolean,
): Promise<readonly string[]> => {
  const drops: string[] = [];
  for (const [name, rows] of await viewsOf(client, table, isAll)) {
    if (!isWanted(name)) continue;
    const view = quoteName(table.buildSchema, name);
    await runQuery(client, { text: `create view ${view} as ${rows}` });
    drops.unshift(`drop view ${view}`);
  }
  return drops;
};
