// The last step for one table, inside the publishing transaction: swap it in, or replace its rows in place.

import type { Client } from '../db/client.ts';
import { quoteName, type Query } from '../db/sql.ts';
import { codeOf, EtlError, messageOf } from '../errors.ts';
import { dependentsText } from './dependents.ts';
import { foreignOwner, inherit } from './inherit.ts';
import { keyChanges, type KeyStep } from './keys.ts';
import { builtName, productionName, type BuiltTable, type DeclaredTable } from './names.ts';
import { ProductionChanged, productionTable, type ProductionTable } from './production.ts';
import { replaceRows } from './replace-rows.ts';
import { refuseShape } from './shape.ts';
import { builtState, columnsOf, type TableState } from './table-state.ts';

export type Strategy = 'swap' | 'in place';

/** The statement, whose failure with this SQLSTATE means that somebody was faster. */
const unlessChanged = async (client: Client, sql: string, sqlstate: string): Promise<void> => {
  await client.query(sql).catch((cause: unknown) => {
    throw codeOf(cause) === sqlstate ? new ProductionChanged() : cause;
  });
};

/** Puts the built table in the old one's place; a first publication takes over the schema's default privileges. */
const swap = async (
  client: Client,
  table: BuiltTable,
  production: ProductionTable | undefined,
): Promise<void> => {
  const target = productionName(table);
  // An empty table made in the production schema has the privileges that new tables there are to have.
  if (production === undefined) await unlessChanged(client, `create table ${target} ()`, '42P07');
  await unlessChanged(client, `lock table ${target} in access exclusive mode`, '42P01');
  const old = (await productionTable(client, table))!;
  if (production !== undefined && JSON.stringify(old) !== JSON.stringify(production))
    throw new ProductionChanged();
  const owner = await foreignOwner(client, old.oid);
  await inherit(client, old.oid, table, table.comment);
  await client.query(`drop table ${target}`);
  await client.query(`alter table ${builtName(table)} set schema ${quoteName(table.schema)}`);
  // Last, and in production: an owner that is not us may not create in the build schema.
  if (owner !== undefined) await client.query(`alter table ${target} owner to ${quoteName(owner)}`);
};

/** How a table will be published, and on what that depends. */
export interface PublishPlan {
  readonly table: BuiltTable;
  readonly builtAs: TableState;
  readonly strategy: Strategy;
  readonly production: ProductionTable | undefined;
}

/** Refuses before any row is loaded what would be refused in the end; `like` names a table with the declared columns. */
export const checkTarget = async (client: Client, table: DeclaredTable, like: string): Promise<void> => {
  const production = await productionTable(client, table);
  if (production !== undefined) refuseShape(table, await columnsOf(client, like), production);
};

export const planPublish = async (client: Client, table: BuiltTable): Promise<PublishPlan> => {
  const production = await productionTable(client, table);
  const builtAs = await builtState(client, table);
  if (production !== undefined) refuseShape(table, builtAs.columns, production);
  const strategy = (production?.dependents.length ?? 0) > 0 ? 'in place' : 'swap';
  return { table, builtAs, strategy, production };
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

/** A statement that this kind of table does not take, with what makes it one: Citus refuses some by 0A000. */
const unsupported = (
  { schema, table }: BuiltTable,
  { dependents }: ProductionTable,
  cause: unknown,
): unknown => {
  if (codeOf(cause) !== '0A000') return cause;
  const problem = `rows of ${schema}.${table} cannot be replaced in place: ${messageOf(cause)}`;
  const hint = `It has to stay the same table because of ${dependentsText(dependents)}. Rename it, run, and make the new table what the old one was.`;
  return new EtlError('ETL_PUBLISH_REFUSED', { table, sqlstate: '0A000', problem, hint }, { cause });
};

/**
 * Publishes one table inside the caller's transaction. Returns what is left to do there when the rows of all tables are in.
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED, ETL_INCOMPLETE.
 */
export const publishTable = async (
  client: Client,
  { table, builtAs, strategy, production }: PublishPlan,
): Promise<readonly KeyStep[]> => {
  if (strategy === 'in place')
    return replaceRows(client, table, builtAs, production!).catch((cause: unknown) => {
      throw unsupported(table, production!, cause);
    });
  await swap(client, table, production);
  return [];
};

export const insertPublished = (runId: number, { table, builtAs, strategy }: PublishPlan): Query => ({
  text: `insert into etl.published_table
      (run_id, schema_name, table_name, table_oid, strategy, rows, seconds, indexes, columns, not_null, primary_key,
        rows_before)
    values ($1, $2, $3, $4::text::regclass, $5, $6, $7, $8, $9, $10, $11, $12)`,
  values: [
    runId,
    table.schema,
    table.table,
    productionName(table),
    strategy,
    table.rows,
    table.seconds,
    table.indexes,
    builtAs.columns.map(({ name }) => name),
    builtAs.columns.filter(({ notNull }) => notNull).map(({ name }) => name),
    table.primaryKey,
    table.rowsBefore,
  ],
});
