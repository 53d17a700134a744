// Whether what is in our schemas may be used: who owns it, and whether anything in it does more than a plain table does.
//
// Any role that may create a schema can create `etl` before the first run does, and its code on the tables (triggers, rules, policies,
// defaults) would run as the user of the run. One statement asks the catalogue, and runs none of that code. Once schemas and their
// objects belong to trusted roles, nobody else can add to them, so the answer remains true.
// Proved by test/integration/hostile-bookkeeping.test.ts; for users: docs/operations/security.md.

import { EtlError } from '../../core/errors/errors.ts';
import { firstOf, onOneLine } from '../../core/wording.ts';
import { bookkeepingShape } from './bookkeeping-shape.ts';
import type { Client } from '../client.ts';

/** Schemas that every run writes; each pipeline has a build schema beside them. */
export const ownSchemas = ['etl', 'etl_kept', 'etl_queue', 'etl_staging'];

/** Only these are used: what else somebody who is trusted keeps in the schema is his own. */
const tableOf = (line: string): string => line.slice(0, line.indexOf(':'));
const bookkeepingTables = [...new Set(bookkeepingShape.map(tableOf))];

/** Problems that an error names; there are as many as a stranger likes. */
const problemsShown = 5;

/** What pipelines have of their own: build schemas, and how the names of their staging tables begin. */
export interface PipelinePlaces {
  readonly builds: readonly string[];
  readonly staging: string;
}

/** What is found in our schemas. */
export interface Trust {
  readonly user: string;
  /** Things that belong to roles which the user does not trust, with their owners: they may run code when we write. */
  readonly foreign: readonly string[];
  /** Things that no migration of ours has made, and that may run code even when a table is only read. */
  readonly strange: readonly string[];
  /** The bookkeeping has been migrated at least once. */
  readonly isThere: boolean;
  /** Names and oids of the schemas that were there. */
  readonly schemas: Readonly<Record<string, string>>;
  /** Columns, constraints and unique indexes of the bookkeeping, a line each, as in bookkeeping-shape.ts. */
  readonly shape: readonly string[];
}

/**
 * Roles that are trusted: oneself, superusers, and roles that one was made a member of. Oneself is who logged in: code that is run
 * after `set role` can reset it. A superuser is a member of every role by `pg_has_role`, and would trust everybody: what counts are
 * memberships that can be used and that a superuser granted, for up to PostgreSQL 15 every role can make anybody its member.
 * A user who is no superuser also trusts grants of roles that administer roles, and the owner of the database.
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
 * Everything in a schema depends on it in pg_depend, and on its owner in pg_shdepend. Left out is what belongs to the owner of the
 * schema, who is named, and what others make there and we do not touch: staging tables of other pipelines, and the counters of
 * BullMQ's queues, for a sequence runs no code. A trigger needs no ownership of the table, and a trusted role may well note what
 * happens to runs: what counts is whose function is called. Kept tables are as production's were; no row goes into them, and only their
 * schema's owner could put others in their places.
 */
const foreignThings = `
  select 1 as place, format('schema %I belongs to %I', nspname, s.name) as problem
    from place join stranger s on s.oid = nspowner
  union all
  select 2, format('%s belongs to %I', pg_describe_object(d.classid, d.objid, 0), s.name)
    from place p
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
 * Nothing of ours has rules, policies, parents, children or statistics of its own. Tables aside, which a killed run may have left,
 * can be divided and have generated columns, as declared. A divided one may have left production with its row security, and is only
 * dropped. Partitions may still be where production had them, and only the owner
 * of a table attaches any to it. Functions, operators and types that are not PostgreSQL's are used by
 * BullMQ's tables, those of its own schema, and as types of staging's columns.
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
      when part.nspname = 'etl_queue' then not exists (select from place p where p.nspname = 'etl_queue' and p.oid = n.refobjid)
      when part.nspname = 'etl_staging' then d.refclassid <> 'pg_type'::regclass
      else false end`;

/** Not-null constraints are left out: PostgreSQL 18 began to name them. */
const bookkeepingLines = `
  select format('%s: %s %s%s%s%s', r.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' else '' end,
      case when a.attidentity <> '' then format(' identity %s', a.attidentity) else '' end,
      coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
    from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where r.nspname = 'etl' and r.relkind = 'r'
  union all
  -- Names of tables are written with their schema or without by search_path.
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
  place as (select oid, nspname, nspowner from pg_namespace where nspname = any ($1)),
  relation as (
    select c.oid, c.relname, c.relkind, c.relrowsecurity, p.nspname, format('%I.%I', p.nspname, c.relname) as name,
        p.nspname <> all ($4) as "isAside"
      from pg_class c join place p on p.oid = c.relnamespace
      where c.relkind not in ('i', 'I', 't') and p.nspname <> 'etl_kept'
        and (p.nspname <> 'etl_staging' or c.relkind <> 'r' or starts_with(c.relname, $2))
  ),
  ours as (select * from relation where nspname <> 'etl' or relname = any ($3))
  select session_user as "user", exists (select from relation where name = 'etl.migration') as "isThere",
    (select coalesce(json_object_agg(nspname, oid::text), '{}') from place) as schemas,
    array(select problem from (${foreignThings}) as f (place, problem) order by place, problem collate "C") as foreign,
    array(select problem from (${strangeThings}) as s (problem) order by problem collate "C") as strange,
    array(select line from (${bookkeepingLines}) as b (line) order by line collate "C") as shape`;

/** What is in our schemas, and in those of a pipeline. Reads catalogues only. */
export const readTrust = async (client: Client, places?: PipelinePlaces): Promise<Trust> => {
  const schemas = places === undefined ? ownSchemas : [...ownSchemas, ...places.builds];
  // No name begins with a slash: without a pipeline no staging table is looked at.
  const trust: Trust = (
    await client.query(selectTrust, [schemas, places?.staging ?? '/', bookkeepingTables, ownSchemas])
  ).rows[0];
  // The first migration makes all of them at once, so one without its record is of another program.
  const others = trust.isThere ? [] : new Set(trust.shape.map(tableOf));
  return {
    ...trust,
    strange: [...trust.strange, ...Array.from(others, (table) => `no migration created etl.${table}`)],
  };
};

/**
 * Whether these schemas are still those in which everything was trusted: then nobody else has had one of his own in their place, who
 * could put things there. A schema that was made since then is not; nor does it say who has made what in one where others may.
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

/** Problems for people: the first few, and how many more. */
export const listed = (problems: readonly string[]): string =>
  onOneLine(firstOf(problems, problemsShown).join('; '));

/** What to do about things of others. */
export const foreignHint =
  'Run as the role that owns it; or, if that role may have all your rights, grant it to your user. Otherwise drop its objects.';
/** What to do about things that nobody should have made. */
export const strangeHint =
  'Find out who created it; then drop it. Only the migrations may create bookkeeping objects.';

const untrusted = ({ user }: Trust, problems: readonly string[], hint: string): EtlError =>
  new EtlError('ETL_UNTRUSTED', { user, problems: listed(problems), hint });

/** Whether it is safe to write into our schemas. */
export const isTrusted = ({ foreign, strange }: Trust): boolean => foreign.length + strange.length === 0;

/** For whom writes into our schemas. Errors: ETL_UNTRUSTED. */
export const refuseUntrusted = (trust: Trust): void => {
  if (trust.foreign.length > 0) throw untrusted(trust, trust.foreign, foreignHint);
  if (trust.strange.length > 0) throw untrusted(trust, trust.strange, strangeHint);
};

/**
 * For whom only reads the bookkeeping, which may well belong to somebody else: plain tables run nothing when they are read.
 * Errors: ETL_UNTRUSTED.
 */
export const refuseStrange = (trust: Trust): void => {
  if (trust.strange.length > 0) throw untrusted(trust, trust.strange, strangeHint);
};

/** What differs from the bookkeeping of the version that this program knows. */
export const otherShape = ({ shape }: Trust): readonly string[] => [
  ...shape
    .filter((line) => bookkeepingTables.includes(tableOf(line)) && !bookkeepingShape.includes(line))
    .map((line) => `no migration created etl.${line}`),
  ...bookkeepingShape.filter((line) => !shape.includes(line)).map((line) => `etl.${line} is gone`),
];

/** Errors: ETL_UNTRUSTED when anything does. */
export const refuseOtherShape = (trust: Trust): void => {
  const problems = otherShape(trust);
  if (problems.length > 0) throw untrusted(trust, problems, strangeHint);
};

/**
 * For the rest of a session that only reads our plain tables: the server opens no view and no foreign table that somebody puts in
 * their place meanwhile, and applies no policy. PostgreSQL 14.13 to 17 and later know the first.
 */
export const readOnlyPlainTables = async (client: Client): Promise<void> => {
  await client.query(`select set_config(name, case name when 'row_security' then 'off' else 'view, foreign-table' end, false)
    from pg_settings where name in ('row_security', 'restrict_nonsystem_relation_kind')`);
};
