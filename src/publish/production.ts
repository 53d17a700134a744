// A production table as it stands, what hangs on it, and what of it is ours.

import { runQuery, type Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { selectDependents, type Dependent } from './dependents.ts';
import { selectCatalogues } from './extensions.ts';
import type { DeclaredTable, TableNames } from './names.ts';
import { productionState, type TableState } from './table-state.ts';

/** What the newest run that published a table recorded of it; null: it ran before that was recorded. */
export interface PublishedShape {
  readonly columns: readonly string[] | null;
  readonly notNull: readonly string[] | null;
  readonly primaryKey: readonly string[] | null;
}

export interface ProductionTable extends TableState {
  readonly oid: number;
  /** relkind: r an ordinary table, p a partitioned one; anything else is no table of ours. */
  readonly kind: string;
  readonly dependents: readonly Dependent[];
  /** True when a foreign key of another table points here, so that rows must be replaced by key. */
  readonly isReferenced: boolean;
  /** Undefined: no run published this very table. */
  readonly published: PublishedShape | undefined;
}

/** Raised inside the transaction when a table, or what hangs on it, changed since we looked; publishing starts over. */
export class ProductionChanged extends Error {}

const selectPublished = (oid: number, { schema, table }: TableNames): Query => ({
  text: `select columns, not_null as "notNull", primary_key as "primaryKey" from etl.published_table
    where table_oid = $1 and schema_name = $2 and table_name = $3 order by run_id desc limit 1`,
  values: [oid, schema, table],
});

/** A primary key that somebody made on a table of ours that is declared without one. */
const isOwnKey = (columns: readonly string[], published: PublishedShape | undefined): boolean =>
  columns.length > 0 && (published === undefined || published.primaryKey?.length === 0);

/** Looks the production table up; undefined when there is none. */
export const productionTable = async (
  client: Client,
  table: DeclaredTable,
): Promise<ProductionTable | undefined> => {
  const found = await client.query(
    `select c.oid, c.relkind as kind, ${selectCatalogues}
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = $2`,
    [table.schema, table.table],
  );
  if (found.rows.length === 0) return undefined;
  const { oid, kind, ...catalogues } = found.rows[0];
  const dependents: Dependent[] = (await runQuery(client, selectDependents(oid, catalogues))).rows;
  const published: PublishedShape | undefined = (await runQuery(client, selectPublished(oid, table))).rows[0];
  const state = await productionState(client, table);
  const key = state.indexes.find(({ isPrimary }) => isPrimary);
  if (table.primaryKey.length === 0 && isOwnKey(key?.columns ?? [], published))
    dependents.push({ kind: 'primary key', name: key!.name });
  const isReferenced = dependents.some((dependent) => dependent.kind === 'foreign key');
  return { ...state, oid, kind, dependents, isReferenced, published };
};
