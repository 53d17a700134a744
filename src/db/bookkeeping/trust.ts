// Checks that our schemas are safe to use: who owns them, and that their tables are plain tables.
//
// Any role that may create a schema can create `etl` before the first run does. Code on its tables
// (triggers, rules, policies, defaults) would then run with the rights of the run's user. One
// statement reads the catalogue, and runs none of that code. If trusted roles own the schemas and
// their objects, nobody else can add any. Proved by test/integration/hostile-bookkeeping.test.ts;
// for users: docs/operations/security.md.

import { EtlError } from '../../core/errors/errors.ts';
import { firstOf, onOneLine } from '../../core/wording.ts';
import { bookkeepingShape } from './bookkeeping-shape.ts';
import type { Client } from '../client.ts';

/** Schemas that every run writes. Each pipeline also has a build schema. */
export const ownSchemas = ['etl', 'etl_kept', 'etl_queue', 'etl_staging'];

/** Only these tables are checked: a trusted role may keep other tables in the schema. */
const tableOf = (line: string): string => line.slice(0, line.indexOf(':'));
const bookkeepingTables = [...new Set(bookkeepingShape.map(tableOf))];

/** Number of problems in an error; an attacker may cause any number. */
const problemsShown = 5;

/** A pipeline's own objects: its build schema, and the prefix of its staging tables' names. */
export interface PipelineObjects {
  readonly buildSchemas: readonly string[];
  readonly stagingPrefix: string;
}

export interface Trust {
  readonly user: string;
  /** Objects of untrusted roles, with their owners. They may run code when we write. */
  readonly foreign: readonly string[];
  /** Objects that no migration created. They may run code even when a table is only read. */
  readonly strange: readonly string[];
  /** True if the bookkeeping was migrated at least once. */
  readonly isThere: boolean;
  /** Names and oids of the existing schemas. */
  readonly schemas: Readonly<Record<string, string>>;
  /** Columns, constraints and unique indexes, a line each, as in bookkeeping-shape.ts. */
  readonly shape: readonly string[];
}

/**
 * SQL: we trust our login role, superusers, and roles that our login role is a member of. The login
 * role counts, because code after `set role` can reset the role. Memberships count if they can be
 * used and a superuser granted them: up to PostgreSQL 15, every role can make anybody its member. A
 * role that is no superuser also trusts grants by roles with CREATEROLE and the owner of the
 * database. By pg_has_role(), a superuser would be a member of every role, and trust everybody.
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
 * SQL: objects of untrusted roles. Every object depends on its schema in pg_depend, and on its
 * owner in pg_shdepend. Not reported: objects of the schema's owner, who is reported once; staging
 * tables of other pipelines and counters of BullMQ's queues, which we never touch; kept tables,
 * because nothing writes to them. A trigger is reported if its function belongs to an untrusted
 * role: a trusted role may record changes of runs.
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
 * SQL: things that our own tables never have. Exceptions:
 *
 * - Tables in a build schema, which a killed run may have left, can be partitioned and have
 *   generated columns. A partitioned table there may come from production with its row security;
 *   it is only dropped. Its partitions may still be in production's schema.
 * - BullMQ's tables use functions, operators and types of their own schema. Columns of staging
 *   tables may have any type.
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
    where relrowsecurity and not ("isAside" and relkind = 'p')
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
 * SQL: the shape of the bookkeeping, without not-null constraints, which have names since
 * PostgreSQL 18.
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
  -- PostgreSQL prints table names with or without their schema, depending on search_path; so they
  -- are printed here.
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
    select c.oid, c.relname, c.relkind, c.relrowsecurity, p.nspname, format('%I.%I', p.nspname, c.relname) as name,
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

/** Checks our schemas, and those of a pipeline. Reads catalogues only. */
export const readTrust = async (client: Client, pipeline?: PipelineObjects): Promise<Trust> => {
  const schemas = [...ownSchemas, ...(pipeline?.buildSchemas ?? [])];
  // No table name begins with a slash: without a pipeline, no staging table is checked.
  const trust: Trust = (
    await client.query(selectTrust, [schemas, pipeline?.stagingPrefix ?? '/', bookkeepingTables, ownSchemas])
  ).rows[0];
  // The first migration creates all tables at once: without etl.migration, they are not ours.
  const others = trust.isThere ? [] : new Set(trust.shape.map(tableOf));
  return {
    ...trust,
    strange: [...trust.strange, ...Array.from(others, (table) => `no migration created etl.${table}`)],
  };
};

/**
 * True if these schemas are still those that were checked; a schema that was created since is not.
 * Otherwise, somebody may have replaced a schema. Objects inside the schemas are not checked again.
 */
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

/** Throws if it is not safe to write into our schemas. Errors: ETL_UNTRUSTED. */
export const refuseUntrusted = (trust: Trust): void => {
  if (trust.foreign.length > 0) throw untrusted(trust, trust.foreign, foreignHint);
  if (trust.strange.length > 0) throw untrusted(trust, trust.strange, strangeHint);
};

/**
 * Throws if it is not safe to read our tables. Reading plain tables runs no code of their owner, so
 * the owner need not be trusted. Errors: ETL_UNTRUSTED.
 */
export const refuseStrange = (trust: Trust): void => {
  if (trust.strange.length > 0) throw untrusted(trust, trust.strange, strangeHint);
};

/** Differences from this program's version of the bookkeeping. */
export const otherShape = ({ shape }: Trust): readonly string[] => [
  ...shape
    .filter((line) => bookkeepingTables.includes(tableOf(line)) && !bookkeepingShape.includes(line))
    .map((line) => `no migration created etl.${line}`),
  ...bookkeepingShape.filter((line) => !shape.includes(line)).map((line) => `etl.${line} is gone`),
];

/** Errors: ETL_UNTRUSTED. */
export const refuseOtherShape = (trust: Trust): void => {
  const problems = otherShape(trust);
  if (problems.length > 0) throw untrusted(trust, problems, strangeHint);
};

/**
 * Sets up a session that only reads. The server then opens no view or foreign table that somebody
 * puts in a plain table's place, and applies no policies. restrict_nonsystem_relation_kind exists
 * since 14.13, 15.8, 16.4 and 17.
 */
export const readOnlyPlainTables = async (client: Client): Promise<void> => {
  await client.query(`select set_config(name, case name when 'row_security' then 'off' else 'view, foreign-table' end, false)
    from pg_settings where name in ('row_security', 'restrict_nonsystem_relation_kind')`);
};
