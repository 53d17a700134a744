// Makes the declared foreign keys: between new tables while these are built, the others in the publishing transaction.

import type { ForeignKeySpec } from '../../constraint.ts';
import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames, quoteText } from '../../db/sql.ts';
import { codeOf } from '../../errors.ts';
import type { PublishPlan } from '../contract.ts';
import { TablesLocked } from '../locks.ts';
import { builtName, fileColumn, mergeColumns, productionName } from '../names.ts';
import type { BuiltTable } from '../tables.ts';
import { constraintText, refusedByServer } from './constraints.ts';
import {
  addForeignKey,
  foreignKeyChanges,
  foreignKeysOf,
  missingKeys,
  targetAt,
  targetName,
} from './foreign-keys.ts';
import { RowsRefused } from './refused-rows.ts';

/** The keys that a table will have, in SQL: those of its new rows, and of rows that stay. */
const keysOf = (target: BuiltTable, to: readonly string[]): string => {
  const { extent, rowsFrom, outgoing, merge, primaryKey } = target;
  if (extent === 'whole') return rowsFrom;
  const deleted = merge?.deletes === true ? `n.${quoteName(mergeColumns.deleted)}` : 'false';
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

/** Rows that a declared foreign key refuses, of the table that the server names; anything else: undefined. */
export const violationOf = (tables: readonly BuiltTable[], cause: unknown): RowsRefused | undefined => {
  if (codeOf(cause) !== '23503') return undefined;
  const { constraint, table: named } = cause as { constraint?: string; table?: string };
  // The server calls a table by the name that it has now.
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
 * Makes the foreign keys between new tables, where nobody waits for their locks. Those to other tables are made when it is clear which
 * of them stay. Errors: RowsRefused, ETL_CONSTRAINT_REFUSED.
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

/** How long writers of a table that no run publishes wait for our lock on it, which waits for theirs. */
const writersWaitMs = 2_000;

/** The oid of the table that will be in production, and what it has. */
const comingOf = (plan: PublishPlan) => {
  const { production, builtAs, publication } = plan;
  const oid = publication.oidInProduction(plan);
  return { oid, state: production?.oid === oid ? production : builtAs };
};

/** A table that is new has its own by name: what they refer to moves with it. */
const missingOf = (plan: PublishPlan): readonly ForeignKeySpec[] => {
  const { state } = comingOf(plan);
  return state === plan.builtAs
    ? foreignKeysOf(plan.table).filter(({ name }) => state.constraints.every((one) => one.name !== name))
    : missingKeys(plan.table, state.constraints);
};

/**
 * Makes the foreign keys that are still missing, in the publishing transaction, when all rows are in. Writers of both tables wait until
 * the commit, readers do not. Errors: RowsRefused, ETL_CONSTRAINT_REFUSED, TablesLocked.
 */
export const makeForeignKeys = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const missing = plans.map(missingOf);
  if (missing.every((keys) => keys.length === 0)) return;
  const { rows } = await client.query(
    'select oid::regclass::text as name from unnest($1::oid[]) with ordinality as p (oid, place) order by place',
    [plans.map((plan) => comingOf(plan).oid)],
  );
  const tables = plans.map(({ table }) => table);
  for (const [place, { table, production }] of plans.entries())
    for (const key of missing[place]!) {
      const at = targetAt(table, key, tables);
      const target = at === -1 ? targetName(table, key) : rows[at].name;
      const own: string = rows[place].name;
      const comment = production?.constraints.find(({ name }) => name === key.name)?.comment ?? null;
      const statements = [
        `set local lock_timeout = ${writersWaitMs}`,
        `alter table ${own} ${addForeignKey(key, target)}`,
        'set local lock_timeout = 0',
        ...(comment === null
          ? []
          : [`comment on constraint ${quoteName(key.name)} on ${own} is ${quoteText(comment)}`]),
      ];
      await client.query(statements.join(';\n')).catch((cause: unknown) => {
        if (codeOf(cause) === '55P03')
          throw new TablesLocked({ names: [target], mode: 'share row exclusive' }, { cause });
        throw violationOf(tables, cause) ?? refusedByServer(table, [key], cause);
      });
    }
};

/** How long we wait for readers of a table that a foreign key connects, and others wait for us. */
const readersWaitMs = 2_000;

/** The foreign keys that tables that stay have no more. */
export const obsoleteKeys = (plans: readonly PublishPlan[]): readonly string[] =>
  plans.flatMap(({ table, production }) =>
    production === undefined
      ? []
      : foreignKeyChanges(table, production.constraints, production.published?.constraints).drop,
  );

/** Before any row is written: the server alters no table with rows that a deferred foreign key has yet to look at. */
export const dropForeignKeys = async (client: Client, drops: readonly string[]): Promise<void> => {
  await client.query(
    [`set local lock_timeout = ${readersWaitMs}`, ...drops, 'set local lock_timeout = 0'].join(';\n'),
  );
};
