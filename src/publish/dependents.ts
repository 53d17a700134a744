// What hangs on a production table and would be lost or broken if another table took its place.

import type { Query } from '../db/sql.ts';
import { selectClaims, type Catalogues } from './extensions.ts';

export interface Dependent {
  readonly kind: string;
  readonly name: string;
}

/** Of all tables in the schema: since PostgreSQL 15. */
const selectSchemaPublications = `
    select 'publication', p.pubname::text from pg_publication_namespace s join pg_publication p on p.oid = s.pnpubid
      where s.pnnspid = (select relnamespace from pg_class where oid = $1)`;

/**
 * Views, rules, foreign keys either way, other constraints, triggers, policies, publications, inheritance, extended
 * statistics, sequences of its columns, functions that SQL gives a body, or that take or give rows of the table, and columns and
 * domains of its row type. PostgreSQL, "System Catalogs", pg_depend. And what extensions know of the table.
 */
export const selectDependents = (oid: number, has: Catalogues): Query => ({
  text: `
    with row_types as (
      select unnest(array[t.oid, t.typarray]) as oid from pg_type t where t.typrelid = $1
    )
    select distinct 'view' as kind, v.oid::regclass::text as name
      from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
        and d.refobjid = $1 and v.oid <> $1
    union all
    select 'rule', rulename::text from pg_rewrite where ev_class = $1
    union all
    select 'foreign key', conrelid::regclass || '.' || conname from pg_constraint
      where contype = 'f' and confrelid = $1 and conrelid <> $1
    union all
    select 'constraint', conname::text from pg_constraint where conrelid = $1 and contype in ('c', 'f', 'u', 'x')
    union all
    select 'trigger', tgname::text from pg_trigger where tgrelid = $1 and (not tgisinternal or tgconstraint = 0)
    union all
    select 'policy', polname::text from pg_policy where polrelid = $1
    union all
    select 'row security', relname::text from pg_class where oid = $1 and relrowsecurity
    union all
    select 'publication', p.pubname::text from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
      where r.prrelid = $1
    union all
    ${has.schemaPublications ? `${selectSchemaPublications} union all` : ''}
    ${selectClaims(has)}
    union all
    select 'inheritance', inhrelid::regclass::text from pg_inherits where inhparent = $1 or inhrelid = $1
    union all
    select 'statistics', stxname::text from pg_statistic_ext where stxrelid = $1
    union all
    select 'function', objid::regprocedure::text from pg_depend
      where classid = 'pg_proc'::regclass and (refclassid = 'pg_class'::regclass and refobjid = $1
        or refclassid = 'pg_type'::regclass and refobjid in (select oid from row_types))
    union all
    select case d.deptype when 'i' then 'identity' else 'sequence' end, d.objid::regclass::text
      from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
      where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
        and d.refobjid = $1 and d.deptype in ('a', 'i')
    union all
    select 'row type', pg_describe_object(classid, objid, 0) from pg_depend
      where refclassid = 'pg_type'::regclass and refobjid in (select oid from row_types)
        and classid <> 'pg_proc'::regclass and objid not in (select oid from row_types)
    order by kind, name`,
  values: [oid],
});

export const dependentsText = (dependents: readonly Dependent[]): string =>
  dependents.map(({ kind, name }) => `${kind} ${name}`).join(', ');

/** With the verb that agrees: "view a depends", "view a, view b depend". */
export const dependText = (dependents: readonly Dependent[]): string =>
  `${dependentsText(dependents)} ${dependents.length === 1 ? 'depends' : 'depend'}`;
