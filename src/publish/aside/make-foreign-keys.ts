// Makes the declared foreign keys: between new tables while these are built, the others in the publishing transaction.

import type { ForeignKeySpec } from '../../core/declaration/constraint.ts';
import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames, quoteText } from '../../db/sql.ts';
import { codeOf } from '../../core/errors/errors.ts';
import type { BuiltOver } from '../table/built-over.ts';
import { TablesLocked } from '../locks.ts';
import { builtName, fileColumn, mergeColumns, productionName } from '../../db/names.ts';
import type { BuiltTable } from '../table/tables.ts';
import { addConstraint, completeByHand, madeByHand } from '../table/constraints-by-hand.ts';
import { constraintText, refusedByServer } from '../table/constraints.ts';
import { keepDisabled } from '../table/disabled-triggers.ts';
import {
  addForeignKey,
  foreignKeyChanges,
  foreignKeysOf,
  missingKeys,
  targetAt,
  targetName,
} from '../table/foreign-keys.ts';
import { RowsRefused } from '../table/refused-rows.ts';
import { refusalOf } from '../refusals.ts';

/** The keys that a table will have, in SQL: those of its new rows, and of rows that stay. */
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

/** A table of a run, and the oid of the one that will be in production. */
type Published = BuiltOver & { readonly oid: number };

/** What the table that will be in production has. */
const stateOf = ({ production, builtAs, oid }: Published) => (production?.oid === oid ? production : builtAs);

/** A foreign key that is made: the table that it refers to, its clause, and the declaration; undefined: somebody has made it by hand. */
interface Making {
  readonly name: string;
  readonly target: string;
  readonly clause: string;
  readonly key: ForeignKeySpec | undefined;
}

/** A table that is new has its own by name: what they refer to moves with it. It gets those that were made by hand, too. */
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

/** Errors: RowsRefused, ETL_CONSTRAINT_REFUSED, ETL_PUBLISH_REFUSED, TablesLocked. */
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
  // One statement has the locks of all before it reads a row: who waits for one of them holds none of the others for long.
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
      (keys.length === making.length ? refusedByServer(table, keys, cause) : refusalOf(table.table, cause))
    );
  });
};

/**
 * Makes the foreign keys that are still missing, in the publishing transaction, when all rows are in: declared ones, and those that a new
 * table has to have like the old one. Writers of both tables wait until the commit, readers do not. Errors: RowsRefused,
 * ETL_CONSTRAINT_REFUSED, ETL_PUBLISH_REFUSED, TablesLocked, ProductionChanged.
 */
export const makeForeignKeys = async (client: Client, plans: readonly Published[]): Promise<void> => {
  const hasAny = ({ table, production }: BuiltOver): boolean =>
    foreignKeysOf(table).length > 0 || (production !== undefined && madeByHand(production).length > 0);
  if (!plans.some(hasAny)) return;
  const { rows } = await client.query(
    'select oid::regclass::text as name from unnest($1::oid[]) with ordinality as p (oid, place) order by place',
    [plans.map(({ oid }) => oid)],
  );
  const names = rows.map(({ name }): string => name);
  const tables = plans.map(({ table }) => table);
  for (const [place, plan] of plans.entries()) {
    const making = missingOf(plan, plans, names);
    if (making.length > 0) await makeAll(client, plan, names[place]!, making, tables);
    if (plan.production !== undefined && stateOf(plan) === plan.builtAs)
      await completeByHand(client, plan.production, plan.oid);
  }
  const replaced = plans.flatMap(({ production, oid }) =>
    production === undefined || production.oid === oid ? [] : [{ old: production.oid, by: oid }],
  );
  if (replaced.length > 0) await keepDisabled(client, replaced);
};

/** How long we wait for readers of a table that a foreign key connects, and others wait for us. */
const readersWaitMs = 2_000;

/** The foreign keys that tables that stay have no more. */
export const obsoleteKeys = (plans: readonly BuiltOver[]): readonly string[] =>
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
