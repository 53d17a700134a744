// In which order rows go into a table that has a key: that of the key, unless they nearly have it already.

import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';

/** Enough to tell keys by chance from those that rise within each file. */
const sampledRows = 10_000;

/** Fewer rows find the index in memory. */
const rowsMin = 50_000;

/** Share of rows whose key is not less than that of the row before. */
const orderedShare = 0.9;

/**
 * What to append to a `select` of a table's rows: `order by` its key where the keys come in an order by chance, as UUIDs do. Each row
 * would touch another page of the index, and the log would get a copy of it: 500,000 rows took half the time in order.
 */
export const inKeyOrder = async (
  client: Client,
  rowsFrom: string,
  rows: number,
  primaryKey: readonly string[],
): Promise<string> => {
  if (rows < rowsMin || primaryKey.length === 0) return '';
  const { rows: found } = await client.query(
    `select avg((key >= before)::int) < ${orderedShare} as "isByChance" from (
      select key, lag(key) over () as before from (
        select row(${quoteNames(primaryKey)}) as key from ${rowsFrom} limit ${sampledRows}
      ) s
    ) k`,
  );
  return found[0].isByChance === true
    ? `order by ${primaryKey.map((name) => quoteName(name)).join(', ')}`
    : '';
};
