// Refuses to partition a table by values of a column in which equal values may have several texts
// (partition-column.ts).

import type { Client } from '../../db/client.ts';
import { quoteText } from '../../db/sql.ts';
import { selectPartitionColumn, type PartitionColumn } from './partition-column.ts';
import { refuseShape } from './shape.ts';

/** Errors: ETL_PUBLISH_SHAPE. */
export const refuseSeveralTexts = (
  table: string,
  column: string,
  { type, hasOneText }: PartitionColumn,
): void => {
  if (!hasOneText)
    refuseShape(
      table,
      `it is to be divided by values of ${column}, which is ${type}: values that are equal may be written differently, as 1.0 and 1.00`,
      'Divide it by hash, or by a column of another type; a numeric needs a scale.',
    );
};

/** Applies refuseSeveralTexts() to a new table. `made`: its quoted name. */
export const refuseUnpartitionable = async (
  client: Client,
  table: string,
  column: string,
  made: string,
): Promise<void> => {
  const { rows } = await client.query<{ by: PartitionColumn }>(
    `select ${selectPartitionColumn} as by from pg_partitioned_table p where partrelid = ${quoteText(made)}::regclass`,
  );
  refuseSeveralTexts(table, column, rows[0]!.by);
};
