// Fills a table with all rows of staging.

import { landsDirectly } from '../../db/landing.ts';
import { builtName } from '../../db/names.ts';
import { countRows } from '../../db/rows.ts';
import { quoteNames } from '../../db/sql.ts';
import { createShape } from '../aside/build-table.ts';
import { createFilled } from '../table/distribution.ts';
import { createWith } from '../table/storage.ts';
import type { Filled, Mode } from './contract.ts';

export const eachStaged = (rows: number, rowsFrom: string): Filled => ({
  rows,
  rowsFrom,
  staged: rows,
  deletions: 0,
});

/** Copies all rows into a new table; for an existing table, only counts them. */
export const fillAll: Mode['fillTable'] = async ({ client, table, names, staging, whenCreated }) => {
  const rowsFrom = builtName(names);
  // COPY has loaded the rows into the table itself. They are counted to prove that none is missing.
  if (landsDirectly(table)) return eachStaged(await countRows(client, rowsFrom), rowsFrom);
  const columns = table.columns.map(({ name }) => name);
  if (names.extent === 'whole') {
    const select = `select ${quoteNames(columns)} from ${staging}`;
    return eachStaged(await createFilled(client, names, select, whenCreated), rowsFrom);
  }
  await createWith(client, createShape(names, columns, staging), whenCreated);
  return eachStaged(await countRows(client, staging), staging);
};
