// Checks that trusted roles own our schemas, and that our tables are plain tables.
//
// A role that may create schemas could create `etl` first. Its triggers, rules and defaults would
// then run with our user's rights. Reading catalogues runs no such code. Proved by
// test/services/hostile-bookkeeping.test.ts.

import { EtlError } from '../../core/errors/errors.ts';
import { firstOf, onOneLine } from '../../core/wording.ts';
import { bookkeepingShape } from './bookkeeping-shape.ts';
import type { Client } from '../client.ts';

export const ownSchemas = ['etl', 'etl_kept', 'etl_queue', 'etl_staging'];

const tableOf = (line: string): string => line.slice(0, line.indexOf(':'));
/** Our tables in `etl`. Other tables, which a trusted role may have created, are not checked. */
const bookkeepingTables = [...new Set(bookkeepingShape.map(tableOf))];

const problemsShown = 5;

export interface PipelineObjects {
  readonly buildSchemas: readonly string[];
  readonly stagingPrefix: string;
}

export interface Trust {
  readonly user: string;
  /** Objects of untrusted roles. They may run code when we write. */
  readonly foreign: readonly string[];
  /** Objects that no migration created. They may run code even when we read. */
  readonly strange: readonly string[];
  readonly isThere: boolean;
  readonly schemas: Readonly<Record<string, string>>;
  /** Columns, constraints and indexes, in the format of bookkeeping-shape.ts. */
  readonly shape: readonly string[];
}

/**
 * SQL: trusted roles are our login role, superusers, and roles that our login role is a member of.
 * current_user does not count, because code after `set role` can reset the role.
 *
 * A membership counts only if a superuser granted it: up to PostgreSQL 15, any role could make
 * anybody its member. If our login role is not a superuser, memberships granted by roles with
 * CREATEROLE or by the database's owner count, too.
 */
const trustedRoles = `
  me as (
    select r.oid, rolsuper, case when not rolsuper then datdba end as landlord
      from pg_roles r, pg_database where rolname = session_user and datname = current_database()
  ),
  trusted (oid) as (
    select oid from me
    union
    select m.roleid from pg_auth_members m join trusted t on t.oid = m.member join pg_roles g on g.oid = m.grantor
      where (g.rolsuper or g.rolcreaterole and not (select rolsuper from me) or g.oid = (select landlord from me))
        and (coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)
          or coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true))
  ),
  stranger (oid, name) as (
    select oid, rolname from pg_roles
      where not rolsuper and oid not in (select oid from trusted) and oid is distinct from (select landlord from me)
  )`;

/**
 * SQL: objects of untrusted roles, found by their schema (pg_depend) and owner (pg_shdepend).
 * Objects that we never touch do not count: staging tables of other pipelines, counters of BullMQ's
 * queues, kept tables. A trigger counts if an untrusted role owns its function.
 */
const foreignThings = `
  select 1 as ordinal, format('schema %I belongs to %I', nspname, s.name) as problem
    from own_schema join stranger s on s.oid = nspowner
  union all
  select 2, format('%s belongs to %I', pg_describe_object(d.classid, d.objid, 0), s.name)
    from own_schema p
      join pg_depend d on d.refclassid = 'pg_namespace'::regclass and d.refobjid = p.oid
      join pg_shdepend o on o.classid = d.classid and o.objid = d.objid and o.deptype = 'o'
        and o.dbid = (select oid from pg_database where datname = current_database())
      join stranger s on s.oid = o.refobjid
      left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
    where p.nspname <> 'etl_kept' and o.refobjid <> p.nspowner and case c.relkind when 'S' then p.nspname <> 'etl_queue'
      when 'r' then p.nspname <> 'etl_staging' or starts_with(c.relname, $2) else true end
  union all
  select 3, format('%s has trigger %I, whose function belongs to %I', r.name, tgname, s.name)
    from ours r join pg_trigger on tgrelid = r.oid join pg_proc f on f.oid = tgfoid join stranger s on s.oid = f.proowner`;

/**
 * SQL: objects that our own tables never have. Not reported:
 * - what a killed run leaves in a build schema: partitioned tables, row security, partitions of
 *   production tables, generated columns;
 * - objects of BullMQ's schema that its tables use, and the types of staging columns;
 * - row security that has no effect on us, which an event trigger may turn on for every new table.
 */
const strangeThings = `
  select format('%s is not a plain table', name) from ours
    where relkind not in ('r', 'S', 'c') and not ("isAside" and relkind = 'p')
  union all
  select format('%s has rule %I', name, rulename) from ours join pg_rewrite w on ev_class = ours.oid
    where relkind in ('r', 'p')
  union all
  select format('%s has policy %I', name, polname) from ours join pg_policy on polrelid = ours.oid
    where not ("isAside" and relkind = 'p')
  union all
  select format('%s has row security', name) from ours
    where relrowsecurity and (relforcerowsecurity or not pg_has_role(relowner, 'usage')) and not ("isAside" and relkind = 'p')
  union all
  select format('%s inherits from %s', inhrelid::regclass, inhparent::regclass) from pg_inherits
    where (inhrelid in (select oid from ours) or inhparent in (select oid from ours))
      and inhparent not in (select oid from ours where "isAside" and relkind = 'p')
  union all
  select format('%s has statistics %I', name, stxname) from ours join pg_statistic_ext on stxrelid = ours.oid
  union all
  select format('column %I of %s is generated', attname, name) from ours join pg_attribute on attrelid = ours.oid
    where attgenerated <> '' and not "isAside"
  union all
  select format('%s uses %s', pg_describe_object(part.classid, part.objid, 0), pg_describe_object(d.refclassid, d.refobjid, 0))
    from (
      select nspname, 'pg_class'::regclass as classid, oid as objid from ours
      union all
      select nspname, 'pg_attrdef'::regclass, a.oid from ours r join pg_attrdef a on a.adrelid = r.oid
      union all
      select nspname, 'pg_constraint'::regclass, c.oid from ours r join pg_constraint c on c.conrelid = r.oid
      union all
      select nspname, 'pg_class'::regclass, i.indexrelid from ours r join pg_index i on i.indrelid = r.oid
    ) as part
      join pg_depend d on d.classid = part.classid and d.objid = part.objid
        and d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
      left join pg_depend n on n.classid = d.refclassid and n.objid = d.refobjid
        and n.refclassid = 'pg_namespace'::regclass
    where case when part.nspname = 'etl' then true
      when part.nspname = 'etl_queue' then not exists (select from own_schema p where p.nspname = 'etl_queue' and p.oid = n.refobjid)
      when part.nspname = 'etl_staging' then d.refclassid <> 'pg_type'::regclass
      else false end`;

/**
 * SQL: one line per column, constraint and index of our tables, without not-null constraints,
 * which PostgreSQL lists only since version 18.
 */
const bookkeepingLines = `
  select format('%s: %s %s%s%s%s', r.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' else '' end,
      case when a.attidentity <> '' then format(' identity %s', a.attidentity) else '' end,
      coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
    from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where r.nspname = 'etl' and r.relkind = 'r'
  union all
  -- PostgreSQL prints table names with or without schema, depending on search_path; so this query
  -- prints the names itself.
  select format('%s: %s', r.relname, case c.contype when 'f' then format('FOREIGN KEY %s REFERENCES %s %s ON DELETE %s',
        c.conkey, (select f.name from relation f where f.oid = c.confrelid), c.confkey, c.confdeltype)
      else pg_get_constraintdef(c.oid) end)
    from relation r join pg_constraint c on c.conrelid = r.oid where r.nspname = 'etl' and c.contype <> 'n'
  union all
  select format('%s: %s', r.relname, pg_get_indexdef(i.indexrelid)) from relation r join pg_index i on i.indrelid = r.oid
    where r.nspname = 'etl' and (i.indexprs is not null or i.indpred is not null or i.indisunique)
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid and c.conrelid = i.indrelid)`;

const selectTrust = `
  with recursive ${trustedRoles},
  own_schema as (select oid, nspname, nspowner from pg_namespace where nspname = any ($1)),
  relation as (
    select c.oid, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relowner, p.nspname, format('%I.%I', p.nspname, c.relname) as name,
        p.nspname <> all ($4) as "isAside"
      from pg_class c join own_schema p on p.oid = c.relnamespace
      where c.relkind not in ('i', 'I', 't') and p.nspname <> 'etl_kept'
        and (p.nspname <> 'etl_staging' or c.relkind <> 'r' or starts_with(c.relname, $2))
  ),
  ours as (select * from relation where nspname <> 'etl' or relname = any ($3))
  select session_user as "user", exists (select from relation where name = 'etl.migration') as "isThere",
    (select coalesce(json_object_agg(nspname, oid::text), '{}') from own_schema) as schemas,
    array(select problem from (${foreignThings}) as f (ordinal, problem) order by ordinal, problem collate "C") as foreign,
    array(select problem from (${strangeThings}) as s (problem) order by problem collate "C") as strange,
    array(select line from (${bookkeepingLines}) as b (line) order by line collate "C") as shape`;

export const readTrust = async (client: Client, pipeline?: PipelineObjects): Promise<Trust> => {
  const schemas = [...ownSchemas, ...(pipeline?.buildSchemas ?? [])];
  // Without a pipeline, `/` matches no table name.
  const trust: Trust = (
    await client.query(selectTrust, [schemas, pipeline?.stagingPrefix ?? '/', bookkeepingTables, ownSchemas])
  ).rows[0];
  // The first migration creates all our tables. If it has not run, existing tables are not ours.
  const others = trust.isThere ? [] : new Set(trust.shape.map(tableOf));
  return {
    ...trust,
    strange: [...trust.strange, ...Array.from(others, (table) => `no migration created etl.${table}`)],
  };
};

export const areSame = async (
  client: Client,
  { schemas }: Trust,
  names: readonly string[],
): Promise<boolean> => {
  const { rows } = await client.query(
    'select nspname as name, oid::text from pg_namespace where nspname = any ($1)',
    [names],
  );
  return rows.every(({ name, oid }) => schemas[name] === oid);
};

export const listed = (problems: readonly string[]): string =>
  onOneLine(firstOf(problems, problemsShown).join('; '));

export const foreignHint =
  'Run as the role that owns it; or, if that role may have all your rights, grant it to your user. Otherwise drop its objects.';
export const strangeHint =
  'Find out who created it; then drop it. Only the migrations may create bookkeeping objects.';

const untrusted = ({ user }: Trust, problems: readonly string[], hint: string): EtlError =>
  new EtlError('ETL_UNTRUSTED', { user, problems: listed(problems), hint });

export const isTrusted = ({ foreign, strange }: Trust): boolean => foreign.length + strange.length === 0;

export const refuseUntrusted = (trust: Trust): void => {
  if (trust.foreign.length > 0) throw untrusted(trust, trust.foreign, foreignHint);
  if (trust.strange.length > 0) throw untrusted(trust, trust.strange, strangeHint);
};

/**
 * Refuses tables that could run code when we read them. Does not check owners, because reading a
 * plain table runs no code of its owner. Errors: ETL_UNTRUSTED.
 */
export const refuseStrange = (trust: Trust): void => {
  if (trust.strange.length > 0) throw untrusted(trust, trust.strange, strangeHint);
};

export const otherShape = ({ shape }: Trust): readonly string[] => [
  ...shape
    .filter((line) => bookkeepingTables.includes(tableOf(line)) && !bookkeepingShape.includes(line))
    .map((line) => `no migration created etl.${line}`),
  ...bookkeepingShape.filter((line) => !shape.includes(line)).map((line) => `etl.${line} is gone`),
];

export const refuseOtherShape = (trust: Trust): void => {
  const problems = otherShape(trust);
  if (problems.length > 0) throw untrusted(trust, problems, strangeHint);
};

/**
 * Makes the session refuse views and foreign tables, which may have replaced our tables, and raise
 * an error where row security would hide rows. restrict_nonsystem_relation_kind exists since
 * PostgreSQL 14.13, 15.8, 16.4 and 17.
 */
export const readOnlyPlainTables = async (client: Client): Promise<void> => {
  await client.query(`select set_config(name, case name when 'row_security' then 'off' else 'view, foreign-table' end, false)
    from pg_settings where name in ('row_security', 'restrict_nonsystem_relation_kind')`);
};
