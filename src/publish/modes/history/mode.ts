// Implements 'history'.

import { builtName } from '../../../db/names.ts';
import { countRows } from '../../../db/rows.ts';
import { quoteNames } from '../../../db/sql.ts';
import { buildDeclared } from '../../aside/build-table.ts';
import { createAs } from '../../table/storage.ts';
import { publishedColumns } from '../../table/tables.ts';
import { seeExchanged } from '../beside.ts';
import type { Mode, PartWays } from '../contract.ts';
import { keyOf } from '../merge/merge-sql.ts';
import { history as strategy, isTouched } from './history.ts';
import { selectVersions } from './versions.ts';

/** SQL sees all versions of the run's keys as new. */
const see: PartWays['see'] = (part, state, names, production) => {
  const touched = isTouched(part, keyOf(state));
  const versions = selectVersions(part, names, part.rowsFrom, { rows: production, isTouched: touched });
  const come = `select ${quoteNames(names)} from (${versions}) t`;
  return seeExchanged(names, production, come, touched);
};

/** Computes the versions of all rows. A run of some files only reports where its records are. */
const fillTable: Mode['fillTable'] = async ({ client, table, names, staging }) => {
  const columns = publishedColumns(table).map(({ name }) => name);
  const staged = await countRows(client, staging);
  const create = `${createAs(names)} ${selectVersions(names, columns, staging)}`;
  const isWhole = names.extent === 'whole';
  const made = await client.query(isWhole ? create : `${create} with no data`);
  return isWhole
    ? { rows: made.rowCount ?? 0, rowsFrom: builtName(names), staged, deletions: 0 }
    : { rows: staged, rowsFrom: staging, staged, deletions: 0 };
};

export const history: Mode = {
  part: { strategies: [strategy], complete: buildDeclared, see },
  fillTable,
};
