// Redirects views over a partitioned table to the table that replaces it, without dropping them.
//
// `create or replace view` with the server's own text changes only what the view reads: owner,
// grants, rules and dependents are kept. Readers lock a view before the tables that it reads, so
// the last query of the publishing transaction does, too. Proved by
// test/modes/partition-views.test.ts.

import { quoteText } from '../../db/sql.ts';

export interface ViewOver {
  readonly oid: number;
  readonly name: string;
  readonly schema: string;
  readonly options: string | null;
  readonly query: string;
  /** Hash of query and options. Mark and query are empty if the view is not replaceable. */
  readonly mark: string;
  /** True for a plain view of a trusted role that reads the table only by its query. */
  readonly isReplaceable: boolean;
}

const mark = (view: string): string =>
  `encode(sha256(convert_to(row(pg_get_viewdef(${view}.oid), ${view}.reloptions)::text, 'UTF8')), 'hex')`;

/**
 * SQL: true for our role and superusers. Parsing a query calls functions of its types as our role,
 * so the query must come from a trusted role.
 */
export const isTrusted = (role: string): string =>
  `(${role} = current_user::regrole or (select rolsuper from pg_roles where oid = ${role}))`;

/**
 * SQL: true if `v` (schema `n`, rule `r`) is a plain view of a trusted role that we may replace.
 */
const isOurs = `
  r.rulename = '_RETURN' and v.relkind = 'v' and v.relpersistence = 'p'
    and ${isTrusted('v.relowner')} and pg_has_role(v.relowner, 'usage') and has_schema_privilege(n.oid, 'usage')
    and has_schema_privilege(n.oid, 'create') and not exists (select from pg_depend u join pg_type y on y.oid = u.refobjid
      where u.classid = 'pg_rewrite'::regclass and u.objid = r.oid and u.refclassid = 'pg_type'::regclass
        and not ${isTrusted('y.typowner')})`;

/**
 * SQL for the views. Only trusted views get a text: to print it, the server locks all relations of
 * the view, and an untrusted role could block us by a lock on its table. Proved by
 * test/modes/strangers.test.ts, "a view of a stranger".
 */
export const viewList = (oid: string): string => `
  coalesce((select json_agg(json_build_object('oid', v.oid::bigint, 'name', format('%I.%I', n.nspname, v.relname),
        'schema', quote_ident(n.nspname), 'isReplaceable', o.is,
        'query', case when o.is then rtrim(pg_get_viewdef(v.oid), ';') else '' end, 'mark', case when o.is then ${mark('v')} else '' end,
        'options', (select string_agg(format('%I = %L', option_name, option_value), ', ') from pg_options_to_table(v.reloptions)))
      order by v.oid)
    from (select distinct objid from pg_depend
        where classid = 'pg_rewrite'::regclass and refclassid = 'pg_class'::regclass and refobjid = ${oid}) d
      join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class join pg_namespace n on n.oid = v.relnamespace
      cross join lateral (select ${isOurs} as is) o
    where v.oid <> ${oid}), '[]')`;

/** Raises 40001, which means: try the transaction again. */
const hasChanged = `raise exception using errcode = '40001', message = 'a view of a table that is to be replaced has changed'`;

/**
 * Locks views by setting their schema to the current one. `lock table` would also lock everything
 * that a view reads.
 */
export const lockViews = (views: readonly ViewOver[]): string => {
  const locks = views.map(({ name, schema }) => `alter view ${name} set schema ${schema};`);
  return locks.length === 0
    ? ''
    : `begin ${locks.join(' ')} exception when undefined_table or wrong_object_type then ${hasChanged}; end;`;
};

const unlessSame = (views: readonly ViewOver[], raise: string): string => {
  const oids = quoteText(`{${views.map(({ oid }) => oid).join(',')}}`);
  const marks = quoteText(`{${views.map((view) => view.mark).join(',')}}`);
  const body = `begin
    if array(select ${mark('v')} from unnest(${oids}::oid[]) with ordinality as u (oid, place) join pg_class v on v.oid = u.oid
        order by u.place) <> ${marks}::text[] then ${raise}; end if;
  end`;
  return `do ${quoteText(body)};`;
};

export const checkViews = (views: readonly ViewOver[]): readonly string[] =>
  views.length === 0 ? [] : [unlessSame(views, hasChanged)];

const isOther = `raise exception using errcode = '0A000', message = 'a view would not be the same with the new table'`;

/** Replaces the views, after a check that nothing else about them changed. */
export const replaceViews = (views: readonly ViewOver[]): readonly string[] =>
  views.length === 0
    ? []
    : [
        ...views.map(
          ({ name, options, query }) =>
            `create or replace view ${name}${options === null ? '' : ` with (${options})`} as ${query};`,
        ),
        unlessSame(views, isOther),
      ];
