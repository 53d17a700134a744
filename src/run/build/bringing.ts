// What a run brings to each table, and how its rows combine with the existing ones.

import type { TableSpec } from '../../core/declaration/declaration.ts';
import { prerequisites } from '../../publish/table/table-order.ts';
import { publishedColumns, type BuiltTable, type MergeRules } from '../../publish/table/tables.ts';
import type { SqlText } from '../../db/sql-file.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { BuildContext } from '../context.ts';
import { versionsOf } from '../../publish/table/declared.ts';
import { derivedExtent, derivedIntake, type Brought } from './derived-intake.ts';

/** How the rows of a table are merged; undefined: they are not. */
const mergeRules = (table: TableSpec): MergeRules | undefined => {
  const { publish } = table;
  if (typeof publish === 'string' || publish.mode === 'append' || publish.mode === 'replace')
    return undefined;
  const columns = table.kind === 'source' ? publishedColumns(table) : [];
  const lineage = columns.filter((column) => column.lineage !== undefined).map(({ name }) => name);
  const deletes = publish.deleted.length > 0;
  if (publish.mode === 'merge') {
    const { update, newer, by } = publish;
    return { update, newer, by, lineage, deletes };
  }
  const versions = versionsOf(publish)!;
  const others = lineage.filter((name) => name !== versions.from);
  return { update: undefined, newer: undefined, lineage: others, deletes, versions };
};

/** What comes into a table. */
export interface Bringing extends Brought {
  readonly sql: SqlText | undefined;
  /** Tables that are built, which its SQL may read. */
  readonly prior: readonly BuiltTable[];
  readonly merge: MergeRules | undefined;
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
  return { extent, outgoing, sql, prior, merge: mergeRules(table) };
};
