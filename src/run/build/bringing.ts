// What a run brings to each table.

import type { TableSpec } from '../../core/declaration/declaration.ts';
import { prerequisites } from '../../publish/table/table-order.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import type { SqlText } from '../../db/sql-file.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { BuildContext } from '../context.ts';
import { derivedExtent, derivedIntake, type Brought } from './derived-intake.ts';

/** What comes into a table. */
export interface Bringing extends Brought {
  readonly sql: SqlText | undefined;
  /** Tables that are built, which its SQL may read. */
  readonly prior: readonly BuiltTable[];
  /** Nothing was loaded, and no row is read: only what the server says of the statements counts. */
  readonly isRehearsal?: true;
}

/** Tables that are built before a table, because its SQL reads them: in one order, because sessions that build wait for each other. */
const priorOf = (
  { spec, sqlTexts }: BuildContext,
  table: TableSpec,
  built: ReadonlyMap<string, BuiltTable>,
): readonly BuiltTable[] =>
  prerequisites(table, spec.tables, sqlTexts.get(table.name)?.text ?? '')
    .toSorted()
    .flatMap((one) => built.get(one) ?? []);

/** Whether a derived table that was built would now be built to another extent: somebody has emptied or filled it. */
export const isOtherExtent = async (
  context: BuildContext,
  table: TableSpec,
  built: ReadonlyMap<string, BuiltTable>,
): Promise<boolean> => {
  const prior = priorOf(context, table, built);
  const extent = await derivedExtent(context, table, context.sqlTexts.get(table.name)?.text ?? '', prior);
  return extent !== built.get(table.name)!.extent;
};

/** What a run brings to a table whose prerequisites are built. */
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
