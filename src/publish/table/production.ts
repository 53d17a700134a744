// Describes production tables: columns, indexes, dependents, and which of these a run made.

import { askPrepared, type Client } from '../../db/client.ts';
import {
  selectColumnUsers,
  selectDependents,
  selectNeeds,
  withReason,
  type Dependent,
} from './dependents.ts';
import { selectCatalogues, type Catalogues } from './extensions.ts';
import { attributeList } from './attributes.ts';
import { serverColumnsOf } from './server-columns.ts';
import { foreignKeyChanges } from './foreign-keys.ts';
import type { TableNames } from '../../db/names.ts';
import type { DeclaredTable } from './tables.ts';
import { selectPartitionColumn, type PartitionColumn } from './partition-column.ts';
import { withoutLinks } from './links.ts';
import { rowSecurityOf, type RowSecurity } from './row-security.ts';
import { viewList, type ViewOver } from './views.ts';
import {
  columnList,
  constraintList,
  sequenceList,
  indexList,
  wantedTables,
  type TableState,
} from './table-state.ts';

/** The record of the newest run that published a table; null: that run was older than the record. */
export interface PublishedShape {
  /** The run that loaded the rows. */
  readonly run: number;
  readonly rows: number;
  /** A run has made the table; others have put rows into it at most. */
  readonly isMade: boolean;
  readonly columns: readonly string[] | null;
  readonly notNull: readonly string[] | null;
  readonly primaryKey: readonly string[] | null;
  readonly constraints: readonly string[] | null;
}

/** How a table in production is divided. */
export interface Partitioning {
  /** range, list or hash; and the columns, where it is not by an expression. */
  readonly by: string;
  readonly columns: readonly string[];
  /** Null: by an expression. */
  readonly partitionColumn: PartitionColumn | null;
  /** For people: "RANGE (day)". */
  readonly text: string;
  readonly partitions: readonly ProductionPartition[];
}

/** A partition in production. Its dependents are its own, beside those that it has from its table. */
export interface ProductionPartition extends ProductionTable {
  readonly schema: string;
  readonly name: string;
  /** As the server writes it: "FOR VALUES IN ('a')", "DEFAULT". */
  readonly bound: string;
}

export interface ProductionTable extends TableState {
  readonly oid: number;
  /** relkind: r an ordinary table, p a partitioned one; anything else is no table of ours. */
  readonly kind: string;
  /** When it is not the current user. */
  readonly owner: string | null;
  readonly dependents: readonly Dependent[];
  /** Of a table that is divided, as is `security`. */
  readonly views: readonly ViewOver[];
  readonly security: RowSecurity | null;
  /** Of dependents and grants, which can change under the lock that freezes columns and indexes. */
  readonly fingerprint: string;
  /** True when a foreign key of another table points here, so that rows must be replaced by key. */
  readonly isReferenced: boolean;
  /** Undefined: no run published this very table. */
  readonly published: PublishedShape | undefined;
  /** The pipeline that did; null: none, or its run was deleted. */
  readonly publishedBy: string | null;
  /** What keeps the type of a column: views, policies, triggers and functions that use it. */
  readonly columnUsers: readonly { readonly column: string; readonly name: string }[];
  /** Those that a declaration may change, by their keys. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Whether the server changes the expression of a generated column: since PostgreSQL 17. */
  readonly setsExpressions: boolean;
  /** Of the server: locks of all transactions that it has room for. */
  readonly locksMax: number;
  /** For people, as the server last counted it. */
  readonly size: string;
  /** Indexes that some run recorded that it made. */
  readonly ours: readonly string[];
  /** Of a table that is declared with partitions, and has some kind of them. */
  readonly partitioning?: Partitioning | undefined;
}

/** Raised inside the transaction when a table or its dependents changed since the plan; publishing starts over. */
export class ProductionChanged extends Error {}

/**
 * The existing tables, their dependents, and a fingerprint of each. The fingerprint covers only what others may change under our
 * lock, because it is computed again while readers wait.
 */
const selectTargets = (tables: readonly TableNames[], has: Catalogues): string => `
  with target as materialized (
    select w.place, w.schema, w.name, c.relnamespace as namespace, c.oid, c.relkind, c.relowner, c.relacl, c.relam, c.reltype,
        c.relrowsecurity, c.relpersistence, c.reloftype, c.relpages
      from ${wantedTables(tables)}
        join pg_namespace n on n.nspname = w.schema join pg_class c on c.relnamespace = n.oid and c.relname = w.name
  ),
  ${selectNeeds},
  need as (
    -- Others than indexes, constraints and the like, which come and go under that lock only. A sequence comes without it.
    select n.oid, json_agg(row(n.classid, n.objid) order by n.classid, n.objid) as list
      from needs n left join pg_class s on n.deptype = 'a' and n.classid = 'pg_class'::regclass and s.oid = n.objid and s.relkind = 'S'
      where n.deptype = 'n' or s.oid is not null group by n.oid
  ),
  column_access as (
    select oid, json_agg(row(place, acl) order by place) as list from (
        select a.attrelid as oid, a.attnum::int as place, a.attacl::text as acl
          from target t join pg_attribute a on a.attrelid = t.oid where a.attacl is not null
        union all
        -- Sequences of identity columns.
        select n.oid, -n.refobjsubid, s.relacl::text from needs n join pg_class s on s.oid = n.objid and s.relkind = 'S'
          where n.deptype = 'i' and n.classid = 'pg_class'::regclass and s.relacl is not null
      ) a group by oid
  ),
  mark as (
    select t.place::int, encode(sha256(convert_to(row(t.oid, t.relkind, t.relowner, t.relacl::text, a.list::text, d.list::text,
          ${has.schemaPublications ? 'array(select pnpubid from pg_publication_namespace where pnnspid = t.namespace)' : 'null'}
        )::text, 'UTF8')), 'hex') as fingerprint
      from target t left join column_access a on a.oid = t.oid left join need d on d.oid = t.oid
  )`;

/** Rows of place and fingerprint of the tables that exist. */
export const selectFingerprints = (tables: readonly TableNames[], has: Catalogues): string =>
  `${selectTargets(tables, has)} select place, fingerprint from mark`;

/** SQL: whether a strategy brings all rows of a table. Such a table was made by a run. */
export const makesTable = `strategy not in ('append', 'merge', 'history')`;

const selectProduction = (tables: readonly TableNames[], has: Catalogues): string => `
  ${selectTargets(tables, has)},
  dependent (oid, kind, name) as (${selectDependents(has)}),
  hanging as (
    select oid, json_agg(json_build_object('kind', kind, 'name', name) order by kind, name) as dependents
      from dependent group by oid
  ),
  users as (${selectColumnUsers}),
  -- Once, and of these tables: the record grows with every run, and the server would read all of it again for each partition.
  recorded as materialized (
    select distinct on (p.schema_name, p.table_name, p.table_oid) p.schema_name, p.table_name, p.table_oid, p.run_id,
        json_build_object('run', coalesce(p.version, p.run_id), 'rows', p.rows, 'columns', p.columns, 'notNull', p.not_null,
          'primaryKey', p.primary_key, 'constraints', p.constraints, 'isMade', bool_or(${makesTable})
            over (partition by p.schema_name, p.table_name, p.table_oid)) as published
      from etl.published_table p join target t on t.schema = p.schema_name and t.name = p.table_name
      order by p.schema_name, p.table_name, p.table_oid, p.published_at desc, p.run_id desc
  ),
  indexed as materialized (
    select p.schema_name, p.table_name, array_agg(distinct index) as ours
      from etl.published_table p join target t on t.schema = p.schema_name and t.name = p.table_name, unnest(p.indexes) as index
      group by p.schema_name, p.table_name
  )
  select m.*, s.oid, coalesce(u.users, '[]') as "columnUsers", pg_size_pretty(greatest(s.relpages, 0)::bigint * current_setting('block_size')::int) as size, s.relkind as kind, nullif(pg_get_userbyid(s.relowner), current_user) as owner,
      coalesce(h.dependents, '[]') as dependents, p.published, (select pipeline from etl.run where id = p.run_id) as "publishedBy", coalesce(i.ours, '{}') as ours,
      ${columnList('s.oid')} as columns, ${indexList('s.oid', "format('%I.%I', s.schema, s.name)")} as indexes,
      ${constraintList('s.oid')} as constraints, ${attributeList('s.oid')} as attributes, ${sequenceList('s.oid')} as sequences,
      case when s.relkind = 'p' then ${viewList('s.oid')} else '[]' end as views,
      case when s.relkind = 'p' then ${rowSecurityOf('s.oid')} end as security,
      current_setting('server_version_num')::int >= 170000 as "setsExpressions", current_setting('max_locks_per_transaction')::int
        * (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int) as "locksMax"
    from target s join mark m on m.place = s.place left join hanging h on h.oid = s.oid left join users u on u.oid = s.oid
      left join recorded p on p.schema_name = s.schema and p.table_name = s.name and p.table_oid = s.oid
      left join indexed i on i.schema_name = s.schema and i.table_name = s.name
    order by s.place`;

/** A primary key that somebody made on a table of ours that is declared without one. */
const isOwnKey = (columns: readonly string[], published: PublishedShape | undefined): boolean =>
  columns.length > 0 && (published === undefined || published.primaryKey?.length === 0);

type Found = Omit<ProductionTable, 'isReferenced' | 'published'> & {
  readonly place: number;
  readonly published: PublishedShape | null;
};

const asProduction = (table: DeclaredTable, found: Found): ProductionTable => {
  const { place: _, published: recorded, ...described } = found;
  const published = recorded ?? undefined;
  const declared = new Set([...table.constraints.map(({ name }) => name), ...(published?.constraints ?? [])]);
  const numbered = new Set(serverColumnsOf(table.attributes).map(({ name }) => name));
  const sequences = new Set(
    found.sequences.filter(({ column }) => numbered.has(column)).map(({ text }) => text),
  );
  const key = found.indexes.find(({ isPrimary }) => isPrimary);
  const isKeyOwn = table.primaryKey.length === 0 && isOwnKey(key?.columns ?? [], published);
  const others = found.dependents.filter(
    ({ kind, name }) =>
      !(kind === 'constraint' && declared.has(name)) && !(kind === 'identity' && sequences.has(name)),
  );
  // Partitions are exchanged with the foreign keys of their table: those that change are changed where its rows stay.
  const changes = foreignKeyChanges(table, found.constraints, published?.constraints);
  const isUnlike = table.partitionBy !== undefined && changes.drop.length + changes.make.length > 0;
  const dependents = [
    ...others,
    ...(isKeyOwn ? [{ kind: 'primary key', name: key!.name }] : []),
    ...(isUnlike ? [{ kind: 'foreign key to', name: 'another table than before' }] : []),
  ];
  // A declared foreign key of the table to itself is deferred, and nothing can be altered before it is checked.
  const refersToItself = found.constraints.some(({ name, on }) => on === found.oid && declared.has(name));
  const isReferenced =
    dependents.some((dependent) => dependent.kind === 'foreign key') ||
    (refersToItself && table.primaryKey.length > 0);
  return { ...described, dependents, isReferenced, published };
};

/** What does not count is for people, and changes by itself: autovacuum counts pages again, those of partitions, too. */
const counting = (key: string, value: unknown): unknown => (key === 'size' ? undefined : value);

/** Whether table, partitions and dependents are the same. Proved by test/modes/touched.test.ts, "autovacuum has looked". */
export const isSame = (a: ProductionTable | undefined, b: ProductionTable | undefined): boolean =>
  JSON.stringify(a, counting) === JSON.stringify(b, counting);

/** How tables are divided, and into what: rows of place, and null where a table is one whole. */
const selectPartitionings = (tables: readonly TableNames[]): string => `
  select w.place::int, json_build_object('text', pg_get_partkeydef(c.oid),
      'by', case p.partstrat when 'r' then 'range' when 'l' then 'list' else 'hash' end,
      'columns', array(select a.attname::text from unnest(p.partattrs) with ordinality as u (attnum, place)
        left join pg_attribute a on a.attrelid = c.oid and a.attnum = u.attnum and u.attnum > 0 order by u.place),
      'partitionColumn', ${selectPartitionColumn},
      'partitions', coalesce((
        select json_agg(json_build_object('schema', s.nspname, 'name', r.relname, 'bound', pg_get_expr(r.relpartbound, r.oid))
            order by r.relname)
          from pg_inherits i join pg_class r on r.oid = i.inhrelid join pg_namespace s on s.oid = r.relnamespace
          where i.inhparent = c.oid and r.relispartition), '[]')) as partitioning
    from ${wantedTables(tables)}
      join pg_namespace n on n.nspname = w.schema join pg_class c on c.relnamespace = n.oid and c.relname = w.name
      join pg_partitioned_table p on p.partrelid = c.oid`;

type FoundPartitioning = Omit<Partitioning, 'partitions'> & {
  readonly partitions: readonly Pick<ProductionPartition, 'schema' | 'name' | 'bound'>[];
};

/** What each partition has because it is one. Anything else hangs on the partition itself, also where it hangs on the table, too. */
const ofItsTable = new Set(['inheritance', 'primary key']);

/** Adds how those are divided that are declared so. */
const withPartitionings = async (
  client: Client,
  tables: readonly DeclaredTable[],
  found: readonly (ProductionTable | undefined)[],
): Promise<readonly (ProductionTable | undefined)[]> => {
  if (tables.every(({ partitionBy }) => partitionBy === undefined)) return found;
  const { rows } = await client.query<{ place: number; partitioning: FoundPartitioning }>(
    selectPartitionings(tables),
  );
  const declared = rows.filter(({ place }) => tables[place - 1]!.partitionBy !== undefined);
  const names = declared.flatMap(({ place, partitioning }) =>
    partitioning.partitions.map(({ schema, name }): DeclaredTable => {
      const { partitionBy: _, ...table } = tables[place - 1]!;
      return { ...table, schema, table: name };
    }),
  );
  const described = (await productionTables(client, names)).values();
  const partitionings = new Map(
    declared.map(({ place, partitioning }) => {
      const partitions = partitioning.partitions.flatMap((known) => {
        const partition = described.next().value;
        if (partition === undefined) return [];
        const dependents = partition.dependents.filter(({ kind }) => !ofItsTable.has(kind));
        return [{ ...partition, dependents, ...known }];
      });
      return [place, { ...partitioning, partitions }];
    }),
  );
  return found.map((one, index) => {
    const partitioning = partitionings.get(index + 1);
    return one && partitioning ? { ...one, partitioning } : one;
  });
};

export const readCatalogues = async (client: Client): Promise<Catalogues> =>
  (await askPrepared<Catalogues & object>(client, `select ${selectCatalogues}`)).rows[0]!;

/**
 * Describes production tables in one query; undefined where there is none. `stays`: why they are kept in place, whatever depends on them.
 */
export const productionTables = async (
  client: Client,
  tables: readonly DeclaredTable[],
  stays?: Dependent,
): Promise<readonly (ProductionTable | undefined)[]> => {
  if (tables.length === 0) return [];
  const { rows } = await askPrepared<Found>(client, selectProduction(tables, await readCatalogues(client)));
  const found = new Map(rows.map((row) => [row.place, row]));
  const described = tables.map((table, index) => {
    const row = found.get(index + 1);
    return row && withReason(table, asProduction(table, row), stays);
  });
  return withPartitionings(client, tables, withoutLinks(tables, described));
};
