// Fills a table with all rows of staging.

import { runQuery } from '../../db/client.ts';
import { landsDirectly } from '../../db/landing.ts';
import { builtName } from '../../db/names.ts';
import { countRows } from '../../db/rows.ts';
import { createFromStaging, createShape } from '../aside/build-table.ts';
import type { Filled, Mode } from './contract.ts';

/** For modes in which each record becomes one row. */
export const eachStaged = (rows: number, rowsFrom: string): Filled => ({
  rows,
  rowsFrom,
  staged: rows,
  deletions: 0,
});

/** All rows of staging: copied into the new table, or only counted for an existing one. */
export const fillAll: Mode['fillTable'] = async ({ client, table, names, staging }) => {
  const rowsFrom = builtName(names);
  // The rows were loaded straight into the table. They are counted, because the proof of
  // completeness needs the actual count, not the reported one.
  if (landsDirectly(table)) return eachStaged(await countRows(client, rowsFrom), rowsFrom);
  const columns = table.columns.map(({ name }) => name);
  const create = names.extent === 'whole' ? createFromStaging : createShape;
  const filled = await runQuery(client, create(names, columns, staging));
  return names.extent === 'whole'
    ? eachStaged(filled.rowCount ?? 0, rowsFrom)
    : eachStaged(await countRows(client, staging), staging);
};
