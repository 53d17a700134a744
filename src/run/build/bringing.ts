// Decides whether a run builds all rows of a table or only some, and which rows it deletes.

import type { TableSpec } from '../../core/declaration.ts';
import { prerequisites } from '../../publish/table/table-order.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import type { SqlText } from '../../db/sql-file.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { BuildContext } from '../context.ts';
import { derivedExtent, derivedIntake, type Brought } from './derived-intake.ts';

export interface Bringing extends Brought {
  readonly sql: SqlText | undefined;
  readonly prior: readonly BuiltTable[];
  /** Set in a rehearsal, which reads no rows: only the server's errors about the SQL matter. */
  readonly isRehearsal?: true;
}

/**
 * Returns the built tables that this table reads. Sorted, so that all sessions lock them in the
 * same order.
 */
const priorOf = (
  { spec, sqlTexts }: BuildContext,
  table: TableSpec,
  built: ReadonlyMap<string, BuiltTable>,
): readonly BuiltTable[] =>
  prerequisites(table, spec.tables, sqlTexts.get(table.name)?.text ?? '')
    .toSorted()
    .flatMap((one) => built.get(one) ?? []);

/**
 * True if the table must now be built in part instead of as a whole, or the reverse, because
 * production's table was filled or emptied.
 */
export const isOtherExtent = async (
  context: BuildContext,
  table: TableSpec,
  built: ReadonlyMap<string, BuiltTable>,
): Promise<boolean> => {
  const prior = priorOf(context, table, built);
  const extent = await derivedExtent(context, table, context.sqlTexts.get(table.name)?.text ?? '', prior);
  return extent !== built.get(table.name)!.extent;
};

export const bringingTo = async (
  context: BuildContext,
  table: TableSpec,
  planned: readonly PlannedTable[],
  built: ReadonlyMap<string, BuiltTable>,
): Promise<Bringing> => {
  const sql = context.sqlTexts.get(table.name);
  const prior = priorOf(context, table, built);
  const brought =
    planned.find((one) => one.table.name === table.name)?.intake ??
    (await derivedIntake(context, table, sql?.text ?? '', prior));
  const { extent, outgoing } = brought;
  return { extent, outgoing, sql, prior };
};
