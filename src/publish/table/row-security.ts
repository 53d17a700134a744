// Row security of a partitioned table that leaves: the table that comes in its place has the same policies with the commit that shows it.
//
// They are made in the last message, when the new table has its name: a policy that names its own table means the new one then. What
// the server says of all of them, and of what they use, is compared before and after. Proved by test/modes/partition-policies.test.ts.

import { quoteName, quoteText } from '../../db/sql.ts';
import { isTrusted } from './views.ts';

interface Policy {
  readonly name: string;
  /** What follows the name of the table: written by the server, with the schemas of all names. */
  readonly clause: string;
  readonly comment: string | null;
}

/** Row security of one table. */
export interface RowSecurity {
  readonly isEnabled: boolean;
  /** Also for its owner. */
  readonly isForced: boolean;
  readonly policies: readonly Policy[];
  /** Of all that is written when it is made again. */
  readonly mark: string;
  /** Whether we may name all that the policies use, and no stranger's type reads a text of theirs. */
  readonly isReproducible: boolean;
}

/** SQL: what the policy `p` uses, with the table itself as 0 and columns by their names. One function may have the name of another by now. */
const uses = `array(select distinct row(d.refclassid, case when d.refobjid = p.polrelid and d.refclassid = 'pg_class'::regclass then 0
      else d.refobjid end, coalesce(a.attname, d.refobjsubid::text), d.deptype)::text
    from pg_depend d left join pg_attribute a
      on d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 and a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where d.classid = 'pg_policy'::regclass and d.objid = p.oid order by 1)`;

/** SQL: what somebody may have changed of the row security of the table with this oid. */
const mark = (oid: string): string => `
  encode(sha256(convert_to((select row(m.relrowsecurity, m.relforcerowsecurity,
      (select json_agg(row(p.polname, p.polcmd, p.polpermissive, p.polroles::text, pg_get_expr(p.polqual, p.polrelid),
          pg_get_expr(p.polwithcheck, p.polrelid), obj_description(p.oid, 'pg_policy'), ${uses}) order by p.polname)
        from pg_policy p where p.polrelid = m.oid))::text
    from pg_class m where m.oid = ${oid}), 'UTF8')), 'hex')`;

/** SQL: how the policy `p` is made. PostgreSQL, "CREATE POLICY". */
const clause = `
  format('as %s for %s to %s', case when p.polpermissive then 'permissive' else 'restrictive' end,
      case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      (select string_agg(case u.role when 0 then 'public' else quote_ident(pg_get_userbyid(u.role)) end, ', ' order by u.place)
        from unnest(p.polroles) with ordinality as u (role, place)))
    || coalesce(' using (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
    || coalesce(' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')`;

/** SQL: row security of the table with this oid, as an object. PostgreSQL, "pg_policy". */
export const rowSecurityOf = (oid: string): string => `
  (select json_build_object('isEnabled', c.relrowsecurity, 'isForced', c.relforcerowsecurity,
      'policies', coalesce((select json_agg(json_build_object('name', p.polname, 'clause', ${clause},
            'comment', obj_description(p.oid, 'pg_policy')) order by p.polname)
          from pg_policy p where p.polrelid = c.oid), '[]'),
      'mark', ${mark('c.oid')},
      'isReproducible', not exists (select from pg_depend u left join pg_type y
            on u.refclassid = 'pg_type'::regclass and y.oid = u.refobjid
            left join pg_namespace n on n.nspname = (pg_identify_object(u.refclassid, u.refobjid, 0)).schema
          where u.classid = 'pg_policy'::regclass and u.objid in (select oid from pg_policy where polrelid = c.oid)
            and (not has_schema_privilege(n.oid, 'usage') or not ${isTrusted('y.typowner')})))
    from pg_class c where c.oid = ${oid})`;

/** The statement that makes a policy on the table with this quoted name. */
export const policySql = ({ name, clause: what }: Policy, table: string): string =>
  `create policy ${quoteName(name)} on ${table} ${what}`;

const statementsOf = ({ name: table, security }: Secured): readonly string[] => [
  ...(security.isEnabled ? [`alter table ${table} enable row level security;`] : []),
  ...(security.isForced ? [`alter table ${table} force row level security;`] : []),
  ...security.policies.flatMap((policy) => [
    `${policySql(policy, table)};`,
    ...(policy.comment === null
      ? []
      : [`comment on policy ${quoteName(policy.name)} on ${table} is ${quoteText(policy.comment)};`]),
  ]),
];

/** A table by its quoted name, and the row security that it has or is to have. */
export interface Secured {
  readonly name: string;
  readonly security: RowSecurity;
}

const unlessSame = (all: readonly Secured[], raise: string): readonly string[] => {
  if (all.length === 0) return [];
  const names = all.map(({ name }) => quoteText(name));
  const marks = all.map(({ security }) => quoteText(security.mark));
  const body = `begin
    if array(select ${mark('u.name::regclass')} from unnest(array[${names.join(', ')}]) with ordinality as u (name, place) order by u.place)
        <> array[${marks.join(', ')}] then ${raise}; end if;
  end`;
  return [`do ${quoteText(body)};`];
};

/** Whether a table has any. Without, nobody can make some while it is published: that takes a lock that we prevent. */
export const isSecured = ({ security: { isEnabled, isForced, policies } }: Secured): boolean =>
  isEnabled || isForced || policies.length > 0;

/** Raises 40001, "the same transaction again", unless the tables, which are locked, have the row security of the plan. */
export const checkRowSecurity = (all: readonly Secured[]): readonly string[] =>
  unlessSame(
    all,
    `raise exception using errcode = '40001', message = 'row security of a table that is to be replaced has changed'`,
  );

/** Gives tables, which have come under their names, the row security of those that left. */
export const giveRowSecurity = (all: readonly Secured[]): readonly string[] => [
  ...all.flatMap(statementsOf),
  ...unlessSame(
    all,
    `raise exception using errcode = '0A000', message = 'a policy would not be the same with the new table'`,
  ),
];
