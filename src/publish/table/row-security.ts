// Copies row security of a partitioned table to the table that replaces it, with the same commit.
//
// Policies are created when the new table has its final name: a policy that names its own table
// then means the new one. The policies, and the objects that they use, are compared before and
// after. Proved by test/modes/partition-policies.test.ts.

import { quoteName, quoteText } from '../../db/sql.ts';
import { isTrusted } from './views.ts';

interface Policy {
  readonly name: string;
  /** The text of `create policy` after the table's name, as the server prints it. */
  readonly clause: string;
  readonly comment: string | null;
}

export interface RowSecurity {
  readonly isEnabled: boolean;
  readonly isForced: boolean;
  readonly policies: readonly Policy[];
  readonly mark: string;
  /** True if we may name all that the policies use, and the types belong to trusted roles. */
  readonly isReproducible: boolean;
}

/**
 * SQL for the objects that a policy uses. The table itself is 0, and columns are names, so that old
 * and new table compare equal. Texts are not enough: functions can be renamed.
 */
const uses = `array(select distinct row(d.refclassid, case when d.refobjid = p.polrelid and d.refclassid = 'pg_class'::regclass then 0
      else d.refobjid end, coalesce(a.attname, d.refobjsubid::text), d.deptype)::text
    from pg_depend d left join pg_attribute a
      on d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 and a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where d.classid = 'pg_policy'::regclass and d.objid = p.oid order by 1)`;

const mark = (oid: string): string => `
  encode(sha256(convert_to((select row(m.relrowsecurity, m.relforcerowsecurity,
      (select json_agg(row(p.polname, p.polcmd, p.polpermissive, p.polroles::text, pg_get_expr(p.polqual, p.polrelid),
          pg_get_expr(p.polwithcheck, p.polrelid), obj_description(p.oid, 'pg_policy'), ${uses}) order by p.polname)
        from pg_policy p where p.polrelid = m.oid))::text
    from pg_class m where m.oid = ${oid}), 'UTF8')), 'hex')`;

const clause = `
  format('as %s for %s to %s', case when p.polpermissive then 'permissive' else 'restrictive' end,
      case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      (select string_agg(case u.role when 0 then 'public' else quote_ident(pg_get_userbyid(u.role)) end, ', ' order by u.place)
        from unnest(p.polroles) with ordinality as u (role, place)))
    || coalesce(' using (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
    || coalesce(' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')`;

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

/** Returns true if there is row security. Our lock prevents others from adding it meanwhile. */
export const isSecured = ({ security: { isEnabled, isForced, policies } }: Secured): boolean =>
  isEnabled || isForced || policies.length > 0;

/** Fails with 40001 ("try again") if row security has changed. */
export const checkRowSecurity = (all: readonly Secured[]): readonly string[] =>
  unlessSame(
    all,
    `raise exception using errcode = '40001', message = 'row security of a table that is to be replaced has changed'`,
  );

export const giveRowSecurity = (all: readonly Secured[]): readonly string[] => [
  ...all.flatMap(statementsOf),
  ...unlessSame(
    all,
    `raise exception using errcode = '0A000', message = 'a policy would not be the same with the new table'`,
  ),
];
