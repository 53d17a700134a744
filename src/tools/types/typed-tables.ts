// The columns of production tables: from the declaration, or from the server where only it knows them.

import type { ColumnSpec, PipelineSpec, SourceTableSpec, TableSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { typeOf } from '../../format/types/registry.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { serverColumnsOf } from '../../publish/table/server-columns.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { readType } from './driver-types.ts';

/** How the server fills a column. An insert can supply a value unless `always`. */
export interface Filling {
  readonly kind: 'generated' | 'identity' | 'default';
  readonly always: boolean;
  /** Expression of a generated column or a default. */
  readonly expression: string | null;
}

export interface TypedColumn {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly filling: Filling | null;
}

export interface TypedTable {
  readonly schema: string;
  readonly name: string;
  readonly primaryKey: readonly string[];
  readonly columns: readonly TypedColumn[];
}

const typed = (column: ColumnSpec): TypedColumn => ({
  name: column.name,
  type: typeOf(column).sql(column.options),
  isNullable: column.nullable,
  filling: null,
});

/** Returns the columns in the order of the table: history adds `to` after `from`. */
const declaredColumns = (table: SourceTableSpec): readonly TypedColumn[] => {
  const { from, to } = meaningOf(table.publish).versions ?? {};
  const columns = publishedColumns(table)
    .map(typed)
    .flatMap((column) =>
      column.name === from ? [column, { ...column, name: to!, isNullable: true }] : [column],
    );
  const made = serverColumnsOf(table.attributes).map((column): TypedColumn => {
    const { name } = column;
    if (column.kind === 'identity')
      return {
        name,
        type: 'bigint',
        isNullable: false,
        filling: { kind: 'identity', always: column.when === 'always', expression: null },
      };
    const { type, expression } = column;
    return { name, type, isNullable: true, filling: { kind: 'generated', always: true, expression } };
  });
  const isKey = ({ name }: TypedColumn): boolean => table.primaryKey.includes(name);
  return [...columns, ...made].map((column) => (isKey(column) ? { ...column, isNullable: false } : column));
};

/** Columns of a table, with the type that the server sends: a domain is sent as its base type. */
const selectColumns = `
  select a.attname as name, not a.attnotnull as "isNullable",
      (with recursive base (type, modifier, depth) as (
        select a.atttypid, a.atttypmod, 0
        union all select t.typbasetype, t.typtypmod, depth + 1 from base join pg_type t on t.oid = base.type and t.typtype = 'd'
      ) select format_type(type, modifier) from base order by depth desc limit 1) as type,
      case when a.attidentity <> '' then json_build_object('kind', 'identity', 'always', a.attidentity = 'a', 'expression', null)
        when d.oid is not null then json_build_object('kind', case when a.attgenerated <> '' then 'generated' else 'default' end,
          'always', a.attgenerated <> '', 'expression', pg_get_expr(d.adbin, d.adrelid)) end as filling
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped
    order by a.attnum`;

/** Why only the server knows the columns of a table; undefined: the declaration says all. */
const unknownBecause = (table: TableSpec): string | undefined => {
  if (table.kind === 'derived' || table.transform !== undefined) return 'SQL makes it';
  if (table.evolve === 'keep') return "its evolve is 'keep'";
  const other = declaredColumns(table).find(({ type }) => readType(type) === undefined);
  return other && `the type ${other.type} of column ${other.name} is not PostgreSQL's own`;
};

interface Declared {
  readonly spec: PipelineSpec;
  readonly table: TableSpec;
}

/** Reads the columns of tables. `client`: undefined if there is no server. */
const readColumns = async (
  client: Client | undefined,
  declared: readonly Declared[],
): Promise<ReadonlyMap<TableSpec, readonly TypedColumn[]>> => {
  const found = new Map<TableSpec, readonly TypedColumn[]>();
  for (const { spec, table } of declared) {
    const name = quoteName(spec.schema, table.name);
    const { rows } = (await client?.query<TypedColumn>(selectColumns, [name])) ?? { rows: [] };
    if (rows.length === 0)
      throw new EtlError('ETL_TYPES_UNKNOWN', {
        pipeline: spec.name,
        table: `${spec.schema}.${table.name}`,
        because: unknownBecause(table),
        problem: client === undefined ? 'there is no server' : 'the table is not in the database',
      });
    found.set(table, rows);
  }
  return found;
};

/**
 * Returns the production tables of pipelines. `ask` calls a function with a connection, or with
 * undefined if there is no server; it is called only for tables that their declarations do not
 * describe fully. A table that several pipelines fill is returned once.
 * Errors: ETL_TYPES_UNKNOWN.
 */
export const typedTables = async (
  pipelines: readonly PipelineSpec[],
  ask: <T>(work: (client: Client | undefined) => Promise<T>) => Promise<T>,
): Promise<readonly TypedTable[]> => {
  const all = pipelines.flatMap((spec) => spec.tables.map((table) => ({ spec, table })));
  const byName = new Map(
    all.toReversed().map((each) => [quoteName(each.spec.schema, each.table.name), each]),
  );
  const once = all.filter(
    ({ spec, table }) => byName.get(quoteName(spec.schema, table.name))?.table === table,
  );
  const unknown = once.filter(({ table }) => unknownBecause(table) !== undefined);
  const read = unknown.length === 0 ? undefined : await ask((client) => readColumns(client, unknown));
  return once.map(({ spec: { schema }, table }) => ({
    schema,
    name: table.name,
    primaryKey: table.primaryKey,
    columns: read?.get(table) ?? declaredColumns(table as SourceTableSpec),
  }));
};
