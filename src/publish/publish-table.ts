// How the tables of a run are published: swapped, or replaced in place; refused, announced and recorded.

import type { Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { dependentsText } from './dependents.ts';
import { keyChanges } from './keys.ts';
import { productionName, type BuiltTable, type DeclaredTable } from './names.ts';
import { ProductionChanged, isSame, productionTables, type ProductionTable } from './production.ts';
import { refuseShape } from './shape.ts';
import { movedName } from './swap.ts';
import { builtStates, columnsOf, type TableState } from './table-state.ts';

export type Strategy = 'swap' | 'in place';

/** How a table will be published, and on what that depends. */
export interface PublishPlan {
  readonly table: BuiltTable;
  readonly builtAs: TableState;
  readonly strategy: Strategy;
  readonly production: ProductionTable | undefined;
  /** Its keys or indexes have to change, so that readers wait while its rows are replaced. */
  readonly blocksReaders: boolean;
}

/** A table that is to be published, and the quoted name of one with the declared columns. */
export interface Target {
  readonly table: DeclaredTable;
  readonly like: string;
}

/** Refuses before any row is loaded what would be refused in the end. */
export const checkTargets = async (client: Client, targets: readonly Target[]): Promise<void> => {
  const columns = await columnsOf(
    client,
    targets.map(({ like }) => like),
  );
  const found = await productionTables(
    client,
    targets.map(({ table }) => table),
  );
  for (const [index, { table }] of targets.entries()) {
    const production = found[index];
    if (production !== undefined) refuseShape(table, columns[index]!, production);
  }
};

/** Plans all tables, in as many questions as one takes. Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED. */
export const planPublish = async (
  client: Client,
  tables: readonly BuiltTable[],
): Promise<readonly PublishPlan[]> => {
  const found = await productionTables(client, tables);
  const built = await builtStates(client, tables);
  return tables.map((table, index) => {
    const [production, builtAs] = [found[index], built[index]!];
    if (production !== undefined) refuseShape(table, builtAs.columns, production);
    const strategy = (production?.dependents.length ?? 0) > 0 ? 'in place' : 'swap';
    const blocksReaders = strategy === 'in place' && keyChanges(table, builtAs, production!).blocksReaders;
    return { table, builtAs, strategy, production, blocksReaders };
  });
};

/** Throws when a table is not what it was when it was planned. Called under a lock that keeps it so, up to what hangs on it. */
export const checkPlanned = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const now = await productionTables(
    client,
    plans.map(({ table }) => table),
  );
  for (const [index, { production }] of plans.entries())
    if (!isSame(now[index], production)) throw new ProductionChanged();
};

/** What an in-place publication costs, for the user; undefined for a swap. */
export const planNotice = ({ table, builtAs, strategy, production }: PublishPlan): string | undefined => {
  if (strategy === 'swap') return undefined;
  const { texts } = keyChanges(table, builtAs, production!);
  const readers =
    texts.length === 0
      ? 'readers see the old rows until the end, writers wait'
      : `writers wait, and readers may wait, too: ${texts.join(', ')}`;
  return (
    `${table.schema}.${table.table}: rows are replaced in place because of ${dependentsText(production!.dependents)}; ` +
    `${readers}, and the table needs a vacuum afterwards`
  );
};

/** Records what was published; a swapped table is still where it was moved to. */
export const insertPublished = (runId: number, plans: readonly PublishPlan[]): Query => ({
  text: `insert into etl.published_table
      (run_id, schema_name, table_name, table_oid, strategy, rows, seconds, indexes, columns, not_null, primary_key, rows_before)
    select $1, p.schema_name, p.table_name, p.found::regclass, p.strategy, p.rows, p.seconds, p.indexes, p.columns, p.not_null,
        p.primary_key, p.rows_before
      from jsonb_to_recordset($2::jsonb) as p (schema_name text, table_name text, found text, strategy text, rows bigint,
        seconds float8, indexes text[], columns text[], not_null text[], primary_key text[], rows_before bigint)`,
  values: [
    runId,
    JSON.stringify(
      plans.map(({ table, builtAs, strategy }) => ({
        schema_name: table.schema,
        table_name: table.table,
        found: strategy === 'swap' ? movedName(runId, table) : productionName(table),
        strategy,
        rows: table.rows,
        seconds: table.seconds,
        indexes: table.indexes,
        columns: builtAs.columns.map(({ name }) => name),
        not_null: builtAs.columns.filter(({ notNull }) => notNull).map(({ name }) => name),
        primary_key: table.primaryKey,
        rows_before: table.rowsBefore,
      })),
    ),
  ],
});
