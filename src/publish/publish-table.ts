// The last step for one table, inside the publishing transaction: swap it in, or replace its rows in place.

import { runQuery, type Client } from '../db/client.ts';
import { quoteName, quoteNames, type Query } from '../db/sql.ts';
import { EtlError } from '../errors.ts';
import { dependentsText, productionTable, type ProductionTable } from './dependents.ts';
import { foreignOwner, inherit, setComment } from './inherit.ts';
import { builtName, productionName, type TableNames } from './names.ts';

/** A table that stands built aside and is to be published. */
export interface BuiltTable extends TableNames {
  readonly primaryKey: readonly string[];
  readonly comment: string | undefined;
  readonly rows: number;
  readonly seconds: number;
  readonly indexes: readonly string[];
}

export type Strategy = 'swap' | 'in place';

/** Raised inside the transaction when what hangs on a table changed since we looked; publishing starts over. */
export class DependentsChanged extends Error {}

const selectColumns = (table: string): Query => ({
  text: `select attname as name, format_type(atttypid, atttypmod) as type
    from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
  values: [table],
});

const columnsOf = async (
  client: Client,
  table: string,
): Promise<readonly { name: string; type: string }[]> => {
  return (await runQuery(client, selectColumns(table))).rows;
};

/** Differences that make rows of one table unfit for another, for people. */
const differences = (
  built: readonly { name: string; type: string }[],
  production: readonly { name: string; type: string }[],
): readonly string[] => {
  const written = (columns: typeof built) => columns.map(({ name, type }) => `${name} ${type}`);
  const [are, were] = [written(built), written(production)];
  return [
    ...are.filter((column) => !were.includes(column)).map((column) => `declared ${column}`),
    ...were.filter((column) => !are.includes(column)).map((column) => `in the table ${column}`),
  ];
};

/**
 * Replaces the rows of a table that other objects depend on. Readers see the old rows until we commit; writers wait.
 * A table that foreign keys point to keeps the rows whose key stays, so that no reference breaks on the way.
 */
const replaceRows = async (client: Client, table: BuiltTable, production: ProductionTable): Promise<void> => {
  const [target, built] = [productionName(table), builtName(table)];
  const dependents = dependentsText(production.dependents);
  const columns = await columnsOf(client, built);
  const difference = differences(columns, await columnsOf(client, target)).join(', ');
  if (difference !== '')
    throw new EtlError('ETL_PUBLISH_SHAPE', { table: table.table, dependents, difference });
  await client.query(`lock table ${target} in share row exclusive mode`);
  // Under the lock nothing new can hang on the table; what came between the plan and the lock makes a new plan.
  const now = await productionTable(client, table.schema, table.table);
  if (JSON.stringify(now) !== JSON.stringify(production)) throw new DependentsChanged();
  // A policy that hides rows from us is an error, not rows that stay.
  await client.query('set local row_security = off');
  const names = columns.map(({ name }) => name);
  const list = quoteNames(names);
  if (!production.isReferenced) {
    await client.query(`delete from ${rowsOf(table, production)}`);
    await client.query(`insert into ${target} (${list}) select ${list} from ${built}`);
  } else await replaceByKey(client, table, production, names);
  await checkRows(client, table, production);
  if (table.comment !== undefined) await client.query(setComment(target, table.comment).text);
};

/** The table's own rows: a table that inherits from it is somebody else's; partitions are its own. */
const rowsOf = (table: BuiltTable, { kind }: ProductionTable): string =>
  kind === 'p' ? productionName(table) : `only ${productionName(table)}`;

/** A trigger or rule may keep rows from being deleted or inserted: then the transaction must not commit. */
const checkRows = async (client: Client, table: BuiltTable, production: ProductionTable): Promise<void> => {
  const { rows } = await client.query(`select count(*)::float8 as n from ${rowsOf(table, production)}`);
  if (rows[0].n === table.rows) return;
  const problem = `${table.rows} rows were to replace its own, but it holds ${rows[0].n} (a trigger or rule?)`;
  throw new EtlError('ETL_INCOMPLETE', { table: table.table, problem });
};

const replaceByKey = async (
  client: Client,
  table: BuiltTable,
  production: ProductionTable,
  columns: readonly string[],
): Promise<void> => {
  const { primaryKey } = table;
  const dependents = dependentsText(production.dependents);
  if (primaryKey.length === 0) throw new EtlError('ETL_PUBLISH_NO_KEY', { table: table.table, dependents });
  const [target, built] = [productionName(table), builtName(table)];
  const others = columns.filter((column) => !primaryKey.includes(column));
  const list = quoteNames(columns);
  const isSame = primaryKey.map((key) => `n.${quoteName(key)} = o.${quoteName(key)}`).join(' and ');
  await client.query(
    `delete from ${rowsOf(table, production)} o where not exists (select from ${built} n where ${isSame})`,
  );
  const update =
    others.length === 0
      ? 'nothing'
      : `update set ${others.map((name) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(', ')}`;
  await client.query(
    `insert into ${target} (${list}) select ${list} from ${built} on conflict (${quoteNames(primaryKey)}) do ${update}`,
  );
};

/** Puts the built table in the old one's place; a first publication takes over the schema's default privileges. */
const swap = async (client: Client, table: BuiltTable): Promise<void> => {
  const target = productionName(table);
  // An empty table made in the production schema has the privileges that new tables there are to have.
  await client.query(`create table if not exists ${target} ()`);
  await client.query(`lock table ${target} in access exclusive mode`);
  const old = await productionTable(client, table.schema, table.table);
  if (old!.dependents.length > 0) throw new DependentsChanged();
  const owner = await foreignOwner(client, old!.oid);
  await inherit(client, old!.oid, table, table.comment);
  await client.query(`drop table ${target}`);
  await client.query(`alter table ${builtName(table)} set schema ${quoteName(table.schema)}`);
  // Last, and in production: an owner that is not us may not create in the build schema.
  if (owner !== undefined) await client.query(`alter table ${target} owner to ${quoteName(owner)}`);
};

/** How a table will be published, and on what that depends. */
export interface PublishPlan {
  readonly table: BuiltTable;
  readonly strategy: Strategy;
  readonly production: ProductionTable | undefined;
}

export const planPublish = async (client: Client, table: BuiltTable): Promise<PublishPlan> => {
  const production = await productionTable(client, table.schema, table.table);
  if (production !== undefined && !['r', 'p'].includes(production.kind)) {
    const problem = `${table.schema}.${table.table} is a view or something else that is no table`;
    throw new EtlError('ETL_PUBLISH_REFUSED', {
      table: table.table,
      sqlstate: '42809',
      problem,
      hint: 'Rename it.',
    });
  }
  const strategy = (production?.dependents.length ?? 0) > 0 ? 'in place' : 'swap';
  return { table, strategy, production };
};

/** What an in-place publication costs, for the user; undefined for a swap. */
export const planNotice = ({ table, strategy, production }: PublishPlan): string | undefined =>
  strategy === 'swap'
    ? undefined
    : `${table.schema}.${table.table}: rows are replaced in place because of ${dependentsText(production!.dependents)}; ` +
      'readers see the old rows until the end, writers wait, and the table needs a vacuum afterwards';

/** Publishes one table inside the caller's transaction. Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY. */
export const publishTable = async (
  client: Client,
  { table, strategy, production }: PublishPlan,
): Promise<void> => {
  if (strategy === 'swap') await swap(client, table);
  else await replaceRows(client, table, production!);
};

export const insertPublished = (runId: number, { table, strategy }: PublishPlan): Query => ({
  text: `insert into etl.published_table
      (run_id, schema_name, table_name, table_oid, strategy, rows, seconds, indexes)
    values ($1, $2, $3, $4::text::regclass, $5, $6, $7, $8)`,
  values: [
    runId,
    table.schema,
    table.table,
    productionName(table),
    strategy,
    table.rows,
    table.seconds,
    table.indexes,
  ],
});
