// Columns and indexes of a table, new or in production, as the server describes them.

import { runQuery, type Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { builtName, productionName, type TableNames } from './names.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
}

export interface TableIndex {
  readonly name: string;
  /** What makes it on the production table, wherever it is now: the same text means the same index. */
  readonly ddl: string;
  /** Columns of its key, without expressions. */
  readonly columns: readonly string[];
  /** By which values of each are the same, with its schema: `operator(public.=)` of a citext. */
  readonly equals: readonly string[];
  readonly hasExpressions: boolean;
  readonly isPrimary: boolean;
  readonly isUnique: boolean;
  /** False while `create index concurrently` makes it, and when that failed. */
  readonly isValid: boolean;
  /** Checked with every row; a deferrable constraint is checked at the end. */
  readonly isImmediate: boolean;
  readonly isReplicaIdentity: boolean;
  readonly isClustered: boolean;
  /** The key or constraint that it belongs to. */
  readonly constraint: string | null;
  /** Some run recorded that it made it. */
  readonly isOurs: boolean;
}

export interface TableState {
  readonly columns: readonly TableColumn[];
  readonly indexes: readonly TableIndex[];
}

const selectColumns = (table: string): Query => ({
  text: `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as "notNull"
    from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
  values: [table],
});

/** Columns of the table with this quoted name. */
export const columnsOf = async (client: Client, table: string): Promise<readonly TableColumn[]> =>
  (await runQuery(client, selectColumns(table))).rows;

/** The operator by which a B-tree says that two values are the same. PostgreSQL, "Operator Classes and Operator Families". */
const equality = (opclass: string): string => `coalesce(
    (select format('operator(%I.%s)', n.nspname, o.oprname)
      from pg_opclass c
      join pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
      join pg_amop a on a.amopfamily = c.opcfamily and a.amopstrategy = 3
        and a.amoplefttype = c.opcintype and a.amoprighttype = c.opcintype
      join pg_operator o on o.oid = a.amopopr
      join pg_namespace n on n.oid = o.oprnamespace
      where c.oid = ${opclass}), 'operator(pg_catalog.=)')`;

// An index of a partitioned table is written ON ONLY, though made without ONLY it is one of all partitions.
const selectIndexes = (table: string, names: TableNames): Query => ({
  text: `select x.relname as name, i.indisprimary as "isPrimary", i.indisunique as "isUnique",
      i.indisvalid as "isValid", i.indimmediate as "isImmediate", i.indisreplident as "isReplicaIdentity",
      i.indisclustered as "isClustered", i.indexprs is not null as "hasExpressions", k.conname as constraint,
      array(select a.attname::text from unnest(i.indkey) with ordinality as u (attnum, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.attnum
        where u.place <= i.indnkeyatts order by u.place) as columns,
      array(select ${equality('u.opclass')} from unnest(i.indclass) with ordinality as u (opclass, place)
        order by u.place) as equals,
      replace(replace(pg_get_indexdef(x.oid), format(' ON ONLY %I.%I USING ', n.nspname, t.relname), $2),
        format(' ON %I.%I USING ', n.nspname, t.relname), $2) as ddl,
      exists (select from etl.published_table p
        where p.schema_name = $3 and p.table_name = $4 and x.relname = any (p.indexes)) as "isOurs"
    from pg_index i
    join pg_class x on x.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid
    join pg_namespace n on n.oid = t.relnamespace
    left join pg_constraint k
      on k.conindid = i.indexrelid and k.conrelid = i.indrelid and k.contype in ('p', 'u', 'x')
    where i.indrelid = $1::regclass
    order by x.relname`,
  values: [table, ` ON ${productionName(names)} USING `, names.schema, names.table],
});

const stateOf = async (client: Client, table: string, names: TableNames): Promise<TableState> => ({
  columns: await columnsOf(client, table),
  indexes: (await runQuery(client, selectIndexes(table, names))).rows,
});

export const builtState = (client: Client, names: TableNames): Promise<TableState> =>
  stateOf(client, builtName(names), names);

export const productionState = (client: Client, names: TableNames): Promise<TableState> =>
  stateOf(client, productionName(names), names);
