// Implements the mode 'history'.

import { builtName } from '../../../db/names.ts';
import { countRows } from '../../../db/rows.ts';
import { quoteNames, quoteName } from '../../../db/sql.ts';
import { buildDeclared } from '../../aside/build-table.ts';
import { createFilled } from '../../table/distribution.ts';
import { createAs, createWith } from '../../table/storage.ts';
import { publishedColumns, type BuiltTable } from '../../table/tables.ts';
import { seeExchanged, writeEach } from '../beside.ts';
import type { Mode, PartWays, PublishPlan, Strategy } from '../contract.ts';
import { selectVersions, comparedColumns } from './versions.ts';
import type { Client } from '../../../db/client.ts';
import { keyOf } from '../merge/merge-sql.ts';
import {
  columnNames,
  createDifferences,
  differencesOf,
  kindColumn,
  kinds,
  prepareJoin,
  rowsThere,
  writeFound,
} from '../merge/differences.ts';
import { merge } from '../merge/merge.ts';
import { isOnePiece } from '../../table/own-rows.ts';
import { haveSame, type TableIndex } from '../../table/table-state.ts';

// Computes the versions of all keys in a run from its records and the existing versions, and writes
// only the differences. So a late record may add a version in between, and a record that was loaded
// before changes nothing.

const isTouched = ({ rowsFrom, mode }: BuiltTable, key: TableIndex): string => {
  const kept = [...key.columns.keys()].filter((at) => key.columns[at] !== mode.versions!.from);
  const own = {
    columns: kept.map((at) => key.columns[at]!),
    equals: kept.map((at) => key.equals[at]!),
  };
  return `exists (select from ${rowsFrom} n where ${haveSame(own, 'n', 'o')})`;
};

const findVersions = async (client: Client, plan: PublishPlan): Promise<void> => {
  const { table, builtAs, production } = plan;
  const names = columnNames(plan);
  const key = keyOf(builtAs);
  const first = quoteName(key.columns[0]!);
  const to = quoteName(table.mode.versions!.to);
  const compared = comparedColumns(table, names);
  const record = (alias: string): string =>
    `row(${[...compared.map((name) => quoteName(name)), to].map((name) => `${alias}.${name}`).join(', ')})::record`;
  const values = names.map((name) =>
    key.columns.includes(name)
      ? `coalesce(t.${quoteName(name)}, o.${quoteName(name)}) as ${quoteName(name)}`
      : `t.${quoteName(name)}`,
  );
  const identity = isOnePiece(production!) ? 'o.ctid, o.xmin, ' : '';
  await prepareJoin(client, plan, table.staged);
  const { from } = table.mode.versions!;
  const rows = await rowsThere(
    client,
    plan,
    key.columns.filter((name) => name !== from),
  );
  await createDifferences(
    client,
    plan,
    values,
    `(case when o.${first} is null then '${kinds.insert}' when t.${first} is null then '${kinds.remove}'
          else '${kinds.update}' end)::"char" as ${kindColumn}
      from (${selectVersions(table, names, table.rowsFrom, { rows: '_etl_touched' })}) t
        full join _etl_touched o on ${haveSame(key, 't', 'o')}
      where t.${first} is null or o.${first} is null or ${record('t')} operator(pg_catalog.*<>) ${record('o')}`,
    // Materialized, because the rows are read twice: to compute the versions and to compare them.
    `with _etl_touched as materialized (select ${identity}o.* from ${rows} o where ${isTouched(table, key)})`,
  );
};

const strategy: Strategy = {
  ...merge,
  name: 'history',

  needs: () => ['select', 'insert', 'update'],

  /** A run adds versions. It rarely removes one: a late record may join two versions. */
  rowsAtLeast: (_, before) => before ?? 0,

  apply: (client, plans) => writeEach(client, plans, (_, plan) => writeFound(client, plan, findVersions)),

  changes: async (client, plan) => {
    const { insert, update, remove } = await differencesOf(client, plan);
    const unchanged = Math.max(0, plan.table.staged - insert - remove);
    return { inserted: insert, updated: update, deleted: remove, unchanged, superseded: 0 };
  },
};

const see: PartWays['see'] = (part, state, names, production) => {
  const touched = isTouched(part, keyOf(state));
  const versions = selectVersions(part, names, part.rowsFrom, { rows: production, isTouched: touched });
  const come = `select ${quoteNames(names)} from (${versions}) t`;
  return seeExchanged(names, production, come, touched);
};

/** Computes all versions of a new table. For an existing table, publishing does it later. */
const fillTable: Mode['fillTable'] = async ({ client, table, names, staging, whenCreated }) => {
  const columns = publishedColumns(table).map(({ name }) => name);
  const staged = await countRows(client, staging);
  const select = selectVersions(names, columns, staging);
  if (names.extent === 'whole') {
    const rows = await createFilled(client, names, select, whenCreated);
    return { rows, rowsFrom: builtName(names), staged, deletions: 0 };
  }
  await createWith(client, { text: `${createAs(names)} ${select} with no data` }, whenCreated);
  return { rows: staged, rowsFrom: staging, staged, deletions: 0 };
};

export const history: Mode = {
  part: { strategies: [strategy], complete: buildDeclared, see },
  fillTable,
};
