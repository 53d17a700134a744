// Creates declared foreign keys: between new tables during the build, other keys when publishing.

import type { ForeignKeySpec } from '../../core/constraint.ts';
import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames, quoteText } from '../../db/sql.ts';
import { codeOf } from '../../core/errors/errors.ts';
import type { BuiltOver } from '../table/built-over.ts';
import { TablesLocked } from '../locks.ts';
import { builtName, fileColumn, mergeColumns, productionName } from '../../db/names.ts';
import type { BuiltTable } from '../table/tables.ts';
import { addConstraint, completeByHand, madeByHand } from '../table/constraints-by-hand.ts';
import { constraintText, refusedByServer } from '../table/constraints.ts';
import {
  addForeignKey,
  foreignKeyChanges,
  foreignKeysOf,
  missingKeys,
  targetAt,
  targetName,
} from '../table/foreign-keys.ts';
import { RowsRefused } from '../table/refused-rows.ts';
import { publishRefusal } from '../refusals.ts';

const keysOf = (target: BuiltTable, to: readonly string[]): string => {
  const { extent, rowsFrom, outgoing, mode, primaryKey } = target;
  if (extent === 'whole') return rowsFrom;
  const deleted = mode.deletes === true ? `n.${quoteName(mergeColumns.deleted)}` : 'false';
  const same = primaryKey.map((name) => `n.${quoteName(name)} = o.${quoteName(name)}`).join(' and ');
  const leaves =
    outgoing.files.length > 0
      ? `o.${quoteName(fileColumn)} = any ('{${outgoing.files.join(',')}}'::bigint[])`
      : deleted === 'false'
        ? 'false'
        : `exists (select from ${rowsFrom} n where ${deleted} and ${same})`;
  return `(select ${quoteNames(to)} from ${productionName(target)} o where not ${leaves}
    union all select ${quoteNames(to)} from ${rowsFrom} n where not ${deleted})`;
};

export const violationOf = (tables: readonly BuiltTable[], cause: unknown): RowsRefused | undefined => {
  if (codeOf(cause) !== '23503') return undefined;
  const { constraint, table: named } = cause as { constraint?: string; table?: string };
  // The server reports the table's current name, which may be temporary.
  const table =
    tables.find(({ table: name }) => name === named) ??
    tables.find((one) => foreignKeysOf(one).some(({ name }) => name === constraint));
  const key = table && foreignKeysOf(table).find(({ name }) => name === constraint);
  if (table === undefined || key === undefined) return undefined;
  const { columns, to } = key;
  const target = tables[targetAt(table, key, tables)];
  const keys = target === undefined ? targetName(table, key) : keysOf(target, to);
  const rule = { kind: 'foreign key', columns, to, keys } as const;
  return new RowsRefused({ table: table.table, what: constraintText(key), rule }, { cause });
};

/**
 * Makes foreign keys between new tables, where their locks block nobody. Errors: RowsRefused,
 * ETL_CONSTRAINT_REFUSED.
 */
export const buildForeignKeys = async (client: Client, built: readonly BuiltTable[]): Promise<void> => {
  for (const table of built) {
    if (table.extent === 'part') continue;
    for (const key of foreignKeysOf(table)) {
      const target = built[targetAt(table, key, built)];
      if (target?.extent !== 'whole') continue;
      await client
        .query(`alter table ${builtName(table)} ${addForeignKey(key, builtName(target))}`)
        .catch((cause: unknown) => {
          throw violationOf(built, cause) ?? refusedByServer(table, [key], cause);
        });
    }
  }
};

/** How long writers of tables outside the run may queue behind us. */
const writersWaitMs = 2_000;

type Published = BuiltOver & { readonly oid: number };

const stateOf = ({ production, builtAs, oid }: Published) => (production?.oid === oid ? production : builtAs);

/** A foreign key to create. `key`: its declaration; undefined if a person made it. */
interface Making {
  readonly name: string;
  readonly target: string;
  readonly clause: string;
  readonly key: ForeignKeySpec | undefined;
}

/**
 * Returns missing foreign keys. A new table also gets those made by hand on the old table. Names
 * are compared, because texts change when the target is renamed.
 */
const missingOf = (
  plan: Published,
  plans: readonly BuiltOver[],
  names: readonly string[],
): readonly Making[] => {
  const { table, production, builtAs } = plan;
  const state = stateOf(plan);
  const tables = plans.map((one) => one.table);
  const isNew = state === builtAs;
  const declared = isNew
    ? foreignKeysOf(table).filter(({ name }) => state.constraints.every((one) => one.name !== name))
    : missingKeys(table, state.constraints);
  const byHand = isNew && production !== undefined ? madeByHand(production) : [];
  return [
    ...declared.map((key): Making => {
      const at = targetAt(table, key, tables);
      const target = at === -1 ? targetName(table, key) : names[at]!;
      return { name: key.name, target, clause: addForeignKey(key, target), key };
    }),
    ...byHand.flatMap((one): Making[] =>
      one.target === null
        ? []
        : [{ name: one.name, target: one.target, clause: addConstraint(one), key: undefined }],
    ),
  ];
};

const makeAll = async (
  client: Client,
  { table, production }: BuiltOver,
  own: string,
  making: readonly Making[],
  tables: readonly BuiltTable[],
): Promise<void> => {
  const comments = making.flatMap(({ name }) => {
    const comment = production?.constraints.find((one) => one.name === name)?.comment ?? null;
    return comment === null
      ? []
      : [`comment on constraint ${quoteName(name)} on ${own} is ${quoteText(comment)}`];
  });
  // One statement takes all locks before it reads rows, so that other sessions wait only briefly.
  const statements = [
    `set local lock_timeout = ${writersWaitMs}`,
    `alter table ${own} ${making.map(({ clause }) => clause).join(', ')}`,
    'set local lock_timeout = 0',
    ...comments,
  ];
  await client.query(statements.join(';\n')).catch((cause: unknown) => {
    const names = [...new Set(making.map(({ target }) => target))];
    if (codeOf(cause) === '55P03') throw new TablesLocked({ names, mode: 'share row exclusive' }, { cause });
    const keys = making.flatMap(({ key }) => key ?? []);
    throw (
      violationOf(tables, cause) ??
      (keys.length === making.length
        ? refusedByServer(table, keys, cause)
        : publishRefusal(table.table, cause))
    );
  });
};

const selectDisabled = `
  with pair as materialized (
    select p.old, p.new from unnest($1::oid[], $2::oid[]) as p (old, new) where current_setting('is_superuser')::boolean
  ),
  -- Materialized: written in the join itself, bounds would be computed for each pair of partitions.
  part as materialized (
    select p.old as replaced, i.inhparent = p.new as is_new, c.oid, pg_get_expr(c.relpartbound, c.oid) as bound
      from pair p join pg_inherits i on i.inhparent in (p.old, p.new) join pg_class c on c.oid = i.inhrelid
  ),
  replaced as materialized (
    select old, new from pair
    union all
    select a.oid, b.oid from part a join part b on b.replaced = a.replaced and b.bound = a.bound where not a.is_new and b.is_new
  ),
  disabled as materialized (
    select r.new, k.conname, g.tgrelid, g.tgfoid, g.tgenabled
      from replaced r join pg_constraint k on k.conrelid = r.old and k.contype = 'f'
        join pg_trigger g on g.tgconstraint = k.oid and g.tgenabled <> 'O'
  )
  select format('alter table only %s %s trigger %I', g.tgrelid::regclass,
      case d.tgenabled when 'D' then 'disable' when 'R' then 'enable replica' else 'enable always' end, g.tgname) as statement
    from disabled d join pg_constraint k on k.conrelid = d.new and k.contype = 'f' and k.conname = d.conname
      join pg_trigger g on g.tgconstraint = k.oid and g.tgfoid = d.tgfoid
    where g.tgrelid = d.tgrelid or exists (select from replaced r where r.old = d.tgrelid and r.new = g.tgrelid)`;

/**
 * Disables the triggers that somebody disabled on the old tables (`alter table … disable trigger
 * all`). Only superusers may do so. Proved by test/modes/foreign-keys.test.ts, "disabled".
 */
const keepDisabled = async (client: Client, replaced: readonly Published[]): Promise<void> => {
  if (replaced.length === 0) return;
  const { rows } = await client.query<{ statement: string }>(selectDisabled, [
    replaced.map(({ production }) => production!.oid),
    replaced.map(({ oid }) => oid),
  ]);
  if (rows.length > 0) await client.query(rows.map(({ statement }) => statement).join(';\n'));
};

/** True if `makeForeignKeys` has any to make. */
export const haveForeignKeys = (plans: readonly BuiltOver[]): boolean =>
  plans.some(
    ({ table, production }) =>
      foreignKeysOf(table).length > 0 || (production !== undefined && madeByHand(production).length > 0),
  );

/**
 * Makes missing foreign keys after all rows are written. Writers of both tables wait until the
 * commit; readers do not wait. Errors: RowsRefused, ETL_CONSTRAINT_REFUSED, ETL_PUBLISH_REFUSED,
 * TablesLocked, ProductionChanged.
 */
export const makeForeignKeys = async (client: Client, plans: readonly Published[]): Promise<void> => {
  const { rows } = await client.query(
    'select oid::regclass::text as name from unnest($1::oid[]) with ordinality as p (oid, place) order by place',
    [plans.map(({ oid }) => oid)],
  );
  const names = rows.map(({ name }): string => name);
  const tables = plans.map(({ table }) => table);
  for (const [index, plan] of plans.entries()) {
    const making = missingOf(plan, plans, names);
    if (making.length > 0) await makeAll(client, plan, names[index]!, making, tables);
    if (plan.production !== undefined && stateOf(plan) === plan.builtAs)
      await completeByHand(client, plan.production, plan.oid);
  }
  await keepDisabled(
    client,
    plans.filter(({ production, oid }) => production !== undefined && production.oid !== oid),
  );
};

const readersWaitMs = 2_000;

export const obsoleteKeys = (plans: readonly BuiltOver[]): readonly string[] =>
  plans.flatMap(({ table, production }) =>
    production === undefined
      ? []
      : foreignKeyChanges(table, production.constraints, production.published?.constraints).drop,
  );

/**
 * Drops foreign keys. Must be called before rows are written: pending checks prevent `alter table`.
 */
export const dropForeignKeys = async (client: Client, drops: readonly string[]): Promise<void> => {
  await client.query(
    [`set local lock_timeout = ${readersWaitMs}`, ...drops, 'set local lock_timeout = 0'].join(';\n'),
  );
};
