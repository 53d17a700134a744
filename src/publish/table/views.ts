// Views over a partitioned table that leaves: each reads the table that comes in its place, and stays the same view.
//
// `create or replace view` changes nothing of a view but its query: owner, grants, comments, defaults of columns, rules, triggers and
// what depends on it stay. The query is the server's own text of it, with the schemas of all names. Readers lock a view before the
// tables that it reads, and so does the last message. Proved by test/modes/partition-views.test.ts.

import { quoteText } from '../../db/sql.ts';

/** A view that reads a table. */
export interface ViewOver {
  readonly oid: number;
  /** Quoted, as is its schema. */
  readonly name: string;
  readonly schema: string;
  /** As `with` takes them; null: none. */
  readonly options: string | null;
  readonly query: string;
  /** Of all that is written when it is made again. Empty, as is the query, of one that is not replaceable. */
  readonly mark: string;
  /** A plain view that only reads the table by its query, that we may change, and that no stranger has written. */
  readonly isReplaceable: boolean;
}

/** SQL: what somebody may have changed of a view, without making another one. */
const mark = (view: string): string =>
  `encode(sha256(convert_to(row(pg_get_viewdef(${view}.oid), ${view}.reloptions)::text, 'UTF8')), 'hex')`;

/**
 * SQL: ours, or of somebody who may do anything anyway. Reading a query makes values of its texts, and that calls functions of their types: a
 * stranger's, as us.
 */
export const isTrusted = (role: string): string =>
  `(${role} = current_user::regrole or (select rolsuper from pg_roles where oid = ${role}))`;

/** SQL: whether the view `v`, in the schema `n`, is a plain one that reads the table by the rule `r`, and ours to change. */
const isOurs = `
  r.rulename = '_RETURN' and v.relkind = 'v' and v.relpersistence = 'p'
    and ${isTrusted('v.relowner')} and pg_has_role(v.relowner, 'usage') and has_schema_privilege(n.oid, 'usage')
    and has_schema_privilege(n.oid, 'create') and not exists (select from pg_depend u join pg_type y on y.oid = u.refobjid
      where u.classid = 'pg_rewrite'::regclass and u.objid = r.oid and u.refclassid = 'pg_type'::regclass
        and not ${isTrusted('y.typowner')})`;

/**
 * Views whose queries or rules read the table with this oid, as a list. PostgreSQL, "CREATE VIEW", "pg_rewrite". The server locks all
 * that a view reads to write its query: a stranger's could keep us waiting for a table of his. Proved by
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

/** SQL that raises 40001, "the same transaction again". */
const hasChanged = `raise exception using errcode = '40001', message = 'a view of a table that is to be replaced has changed'`;

/**
 * Statements that close views to their readers, for a `do`. Moving one to the schema where it is changes nothing; `lock table` would
 * lock all that it reads.
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

/** Raises 40001 unless the views, which are locked, are those of the plan. */
export const checkViews = (views: readonly ViewOver[]): readonly string[] =>
  views.length === 0 ? [] : [unlessSame(views, hasChanged)];

const isOther = `raise exception using errcode = '0A000', message = 'a view would not be the same with the new table'`;

/** Lets views, which are locked, read what has the names of their tables now; they say the same as before. */
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
