// What hangs on production tables and would be lost or broken if other tables took their place.

import { selectClaims, type Catalogues } from './extensions.ts';

export interface Dependent {
  readonly kind: string;
  readonly name: string;
}

/** Of all tables in the schema: since PostgreSQL 15. */
const selectSchemaPublications = `
    select t.oid, 'publication', p.pubname::text from target t
      join pg_publication_namespace s on s.pnnspid = t.namespace join pg_publication p on p.oid = s.pnpubid`;

/**
 * Rows of oid, kind and name for the tables in `target` (oid, namespace): views, rules, foreign keys either way, other
 * constraints, triggers, policies, publications, inheritance, extended statistics, sequences of its columns, functions that
 * SQL gives a body, or that take or give rows of the table, and columns and domains of its row type. PostgreSQL, "System
 * Catalogs", pg_depend. And what extensions know of the tables. All tables in one query: each catalogue is read once, however many they are.
 */
export const selectDependents = (has: Catalogues): string => `
    with row_types as (
      select t.oid as table_oid, unnest(array[y.oid, y.typarray]) as oid from target t join pg_type y on y.typrelid = t.oid
    )
    select distinct t.oid, 'view' as kind, v.oid::regclass::text as name
      from target t join pg_depend d on d.refobjid = t.oid and d.refclassid = 'pg_class'::regclass
        join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
      where d.classid = 'pg_rewrite'::regclass and v.oid <> t.oid
    union all
    select t.oid, 'rule', rulename::text from target t join pg_rewrite on ev_class = t.oid
    union all
    select t.oid, 'foreign key', conrelid::regclass || '.' || conname from target t join pg_constraint on confrelid = t.oid
      where contype = 'f' and conrelid <> t.oid
    union all
    select t.oid, 'constraint', conname::text from target t join pg_constraint on conrelid = t.oid
      where contype in ('c', 'f', 'u', 'x')
    union all
    select t.oid, 'trigger', tgname::text from target t join pg_trigger on tgrelid = t.oid
      where not tgisinternal or tgconstraint = 0
    union all
    select t.oid, 'policy', polname::text from target t join pg_policy on polrelid = t.oid
    union all
    select t.oid, 'row security', relname::text from target t join pg_class c on c.oid = t.oid where relrowsecurity
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
    select t.oid, 'function', objid::regprocedure::text from target t
      join pg_depend on refclassid = 'pg_class'::regclass and refobjid = t.oid where classid = 'pg_proc'::regclass
    union all
    select t.table_oid, 'function', objid::regprocedure::text from row_types t
      join pg_depend on refclassid = 'pg_type'::regclass and refobjid = t.oid where classid = 'pg_proc'::regclass
    union all
    select t.oid, case d.deptype when 'i' then 'identity' else 'sequence' end, d.objid::regclass::text
      from target t join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid
        join pg_class s on s.oid = d.objid and s.relkind = 'S'
      where d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    union all
    select t.table_oid, 'row type', pg_describe_object(classid, objid, 0) from row_types t
      join pg_depend on refclassid = 'pg_type'::regclass and refobjid = t.oid
      where classid <> 'pg_proc'::regclass and objid not in (select oid from row_types)`;

export const dependentsText = (dependents: readonly Dependent[]): string =>
  dependents.map(({ kind, name }) => `${kind} ${name}`).join(', ');

/** With the verb that agrees: "view a depends", "view a, view b depend". */
export const dependText = (dependents: readonly Dependent[]): string =>
  `${dependentsText(dependents)} ${dependents.length === 1 ? 'depends' : 'depend'}`;
