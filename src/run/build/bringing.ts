// What a run brings to each table, and how its rows combine with the existing ones.

import type { TableSpec } from '../../declaration.ts';
import { prerequisites } from '../../pipeline/check/table-order.ts';
import { publishedColumns, type BuiltTable, type MergeRules } from '../../publish/tables.ts';
import type { SqlText } from '../../transform/sql-file.ts';
import type { PlannedTable } from '../begin/planned-table.ts';
import type { BuildContext } from '../context.ts';
import { versionsOf } from '../landing.ts';
import { derivedIntake, type Brought } from './derived-intake.ts';

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

/** What a run brings to a table whose prerequisites are built. */
export const bringingTo = async (
  context: BuildContext,
  table: TableSpec,
  planned: readonly PlannedTable[],
  built: ReadonlyMap<string, BuiltTable>,
): Promise<Bringing> => {
  const sql = context.sqlTexts.get(table.name);
  const text = sql?.text ?? '';
  // In one order, because they wait for each other.
  const prior = prerequisites(table, context.spec.tables, text)
    .toSorted()
    .flatMap((one) => built.get(one) ?? []);
  const brought =
    planned.find((one) => one.table.name === table.name)?.intake ??
    (await derivedIntake(context, table, text, prior));
  const { extent, outgoing } = brought;
  return { extent, outgoing, sql, prior, merge: mergeRules(table) };
};
