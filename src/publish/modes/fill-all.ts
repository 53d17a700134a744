// Fills a table with the rows of staging as they are.

import { runQuery } from '../../db/client.ts';
import { landsDirectly } from '../../db/landing.ts';
import { builtName } from '../../db/names.ts';
import { countRows } from '../../db/rows.ts';
import { createFromStaging, createShape } from '../aside/build-table.ts';
import type { Filled, Mode } from './contract.ts';

/** Where each row takes the place of at most one record. */
export const eachStaged = (rows: number, rowsFrom: string): Filled => ({
  rows,
  rowsFrom,
  staged: rows,
  deletions: 0,
});

/** All rows of staging: in the new table, or counted for the one that is there. */
export const fillAll: Mode['fillTable'] = async ({ client, table, names, staging }) => {
  const rowsFrom = builtName(names);
  // The rows are there already; they are counted, because the proof of completeness uses the actual count, not the reported one.
  if (landsDirectly(table)) return eachStaged(await countRows(client, rowsFrom), rowsFrom);
  const columns = table.columns.map(({ name }) => name);
  const create = names.extent === 'whole' ? createFromStaging : createShape;
  const filled = await runQuery(client, create(names, columns, staging));
  return names.extent === 'whole'
    ? eachStaged(filled.rowCount ?? 0, rowsFrom)
    : eachStaged(await countRows(client, staging), staging);
};
