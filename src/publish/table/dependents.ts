// Finds objects that would be lost or broken if production tables were swapped for new ones.

import { firstOf } from '../../core/wording.ts';
import type { TableNames } from '../../db/names.ts';
import type { DeclaredTable } from './tables.ts';
import { wantedTables } from './table-state.ts';
import { selectForeignGrants } from './grants.ts';
import { selectClaims, type Catalogues } from './extensions.ts';

export interface Dependent {
  readonly kind: string;
  readonly name: string;
}

/**
 * Reasons to keep a table although nothing depends on it: a swap would show some readers a mix of
 * old and new tables (uniform.ts).
 */
export const olderSnapshot = 'older snapshot of';
export const rowsWritten = 'rows written to';
export const keptForReaders: readonly string[] = [olderSnapshot, rowsWritten];

/** Adds the reason `stays`, unless this run writes into the existing table in any case. */
export const withReason = <Table extends { readonly dependents: readonly Dependent[] }>(
  { extent, mode }: Pick<DeclaredTable, 'extent' | 'mode'>,
  production: Table,
  stays: Dependent | undefined,
): Table =>
  stays === undefined || (extent === 'part' && mode.mayExchange !== true)
    ? production
    : { ...production, dependents: [...production.dependents, stays] };

export const isForReaders = ({ kind }: Dependent): boolean => keptForReaders.includes(kind);

/**
 * Objects that depend on the tables in `target`, on their row types, or on arrays of these types.
 */
const selectNeeds = `
  part (oid, class, object) as (
    select oid, 'pg_class'::regclass, oid from target
    union all
    select t.oid, 'pg_type'::regclass, unnest(array[y.oid, y.typarray]) from target t join pg_type y on y.oid = t.reltype
  ),
  needs as materialized (
    select p.oid, p.class, d.classid, d.objid, d.objsubid, d.deptype, d.refobjsubid
      from part p join pg_depend d on d.refclassid = p.class and d.refobjid = p.object
  )`;

/**
 * `target`: the existing tables, `needs`: their entries in pg_depend, `mark`: a fingerprint per
 * table. The fingerprint covers only what others may change under our lock, because it is computed
 * again while readers wait.
 */
export const selectTargets = (tables: readonly TableNames[], has: Catalogues): string => `
  with target as materialized (
    select w.place, w.schema, w.name, c.relnamespace as namespace, c.oid, c.relkind, c.relowner, c.relacl, c.relam, c.reltype,
        c.relrowsecurity, c.relpersistence, c.reloftype, c.relpages
      from ${wantedTables(tables)}
        join pg_namespace n on n.nspname = w.schema join pg_class c on c.relnamespace = n.oid and c.relname = w.name
  ),
  ${selectNeeds},
  need as (
    -- Only objects that can be created under our lock. Indexes and constraints cannot; a sequence
    -- owned by a column can.
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

export const selectFingerprints = (tables: readonly TableNames[], has: Catalogues): string =>
  `${selectTargets(tables, has)} select place, fingerprint from mark`;

/** SQL for publications of all tables in a schema, which exist since PostgreSQL 15. */
const selectSchemaPublications = `
    select t.oid, 'publication', p.pubname::text from target t
      join pg_publication_namespace s on s.pnnspid = t.namespace join pg_publication p on p.oid = s.pnpubid`;

/**
 * SQL for what depends on the tables in `target`, or belongs to them and is not made by a run. A
 * new table would lack "row security", "persistence" (unlogged) and "type" (a typed table). One
 * query reads each catalogue once for all tables.
 */
export const selectDependents = (has: Catalogues): string => `
    select distinct t.oid, 'view' as kind, v.oid::regclass::text as name
      from needs t join pg_rewrite r on r.oid = t.objid join pg_class v on v.oid = r.ev_class
      where t.class = 'pg_class'::regclass and t.classid = 'pg_rewrite'::regclass and v.oid <> t.oid
    union all
    select t.oid, 'rule', rulename::text from target t join pg_rewrite on ev_class = t.oid
    union all
    select t.oid, 'foreign key', conrelid::regclass || '.' || conname from target t join pg_constraint on confrelid = t.oid
      where contype = 'f' and conrelid <> t.oid and conparentid = 0
    union all
    select t.oid, 'constraint', conname::text from target t join pg_constraint on conrelid = t.oid
      where contype in ('c', 'f', 'u', 'x') and conparentid = 0 and coninhcount = 0
    union all
    select t.oid, 'trigger', tgname::text from target t join pg_trigger on tgrelid = t.oid
      where (not tgisinternal or tgconstraint = 0) and tgparentid = 0
    union all
    select t.oid, 'policy', polname::text from target t join pg_policy on polrelid = t.oid
    union all
    select distinct t.oid, 'policy', concat(polname, ' of ', polrelid::regclass) from needs t join pg_policy p on p.oid = t.objid
      where t.class = 'pg_class'::regclass and t.classid = 'pg_policy'::regclass and polrelid <> t.oid
    union all
    select distinct t.oid, 'default', concat(d.adrelid::regclass, '.', a.attname) from needs t join pg_attrdef d on d.oid = t.objid
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      where t.class = 'pg_class'::regclass and t.classid = 'pg_attrdef'::regclass and d.adrelid <> t.oid
    union all
    select distinct t.oid, 'check', concat(coalesce(nullif(conrelid, 0)::regclass::text, contypid::regtype::text), '.', conname)
      from needs t join pg_constraint c on c.oid = t.objid
      where t.class = 'pg_class'::regclass and t.classid = 'pg_constraint'::regclass and contype = 'c' and conrelid <> t.oid
    union all
    ${selectForeignGrants}
    union all
    select oid, 'row security', name from target where relrowsecurity
    union all
    select oid, 'persistence', 'unlogged' from target where relpersistence = 'u'
    union all
    select oid, 'type', reloftype::regtype::text from target where reloftype <> 0
    union all
    select t.oid, 'publication', p.pubname::text from target t
      join pg_publication_rel r on r.prrelid = t.oid join pg_publication p on p.oid = r.prpubid
    union all
    ${has.schemaPublications ? `${selectSchemaPublications} union all` : ''}
    ${selectClaims(has)}
    union all
    select t.oid, 'inheritance', inhrelid::regclass::text from target t join pg_inherits on inhparent = t.oid
    union all
    select t.oid, 'inheritance', inhrelid::regclass::text from target t join pg_inherits on inhrelid = t.oid
    union all
    select t.oid, 'statistics', stxname::text from target t join pg_statistic_ext on stxrelid = t.oid
    union all
    select oid, 'function', objid::regprocedure::text from needs where classid = 'pg_proc'::regclass
    union all
    select t.oid, case t.deptype when 'i' then 'identity' else 'sequence' end, t.objid::regclass::text
      from needs t join pg_class s on s.oid = t.objid and s.relkind = 'S'
      where t.class = 'pg_class'::regclass and t.classid = 'pg_class'::regclass and t.deptype in ('a', 'i')
    union all
    select oid, 'row type', pg_describe_object(classid, objid, 0) from needs
      where class = 'pg_type'::regclass and classid <> 'pg_proc'::regclass and objid not in (select object from part)`;

/**
 * SQL for objects that the server names when it refuses to change a column's type. Before
 * PostgreSQL 15, pg_depend records a generated column's dependencies for the column, not for its
 * default.
 */
export const selectColumnUsers = `
    select n.oid, json_agg(distinct jsonb_build_object('column', a.attname, 'name',
        case when v.oid is not null then 'view ' || v.oid::regclass when g.attname is not null then 'column ' || g.attname
          else pg_describe_object(n.classid, n.objid, 0) end)) as users
      from needs n
        join pg_attribute a on n.class = 'pg_class'::regclass and a.attrelid = n.oid and a.attnum = n.refobjsubid and a.attnum > 0
        left join pg_rewrite r on n.classid = 'pg_rewrite'::regclass and r.oid = n.objid
        left join pg_class v on v.oid = r.ev_class and v.oid <> n.oid
        left join pg_attrdef d on n.classid = 'pg_attrdef'::regclass and d.oid = n.objid
        left join pg_attribute g on g.attrelid = n.oid and g.attnum <> a.attnum and g.attnum > 0
          and g.attnum = case when n.classid = 'pg_class'::regclass and n.objid = n.oid then n.objsubid else d.adnum end
      where g.attnum is not null or n.classid in ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass,
          'pg_proc'::regclass, 'pg_publication_rel'::regclass)
      group by n.oid`;

/** Names shown per kind: a partitioned table can have hundreds of partitions. */
const shownMax = 8;

export const dependentsText = (dependents: readonly Dependent[]): string =>
  [...new Set(dependents.map(({ kind }) => kind))]
    .flatMap((kind) =>
      firstOf(
        dependents.flatMap((one) => (one.kind === kind ? `${kind} ${one.name}` : [])),
        shownMax,
      ),
    )
    .join(', ');

export const dependText = (dependents: readonly Dependent[]): string =>
  `${dependentsText(dependents)} ${dependents.length === 1 ? 'depends' : 'depend'}`;
