// The strategy 'merge': rows of some files take the place of those with the same primary key, and others come beside them.
//
// What differs is found first, in one pass, and only that is written: a row that is there as it comes costs no log and leaves no
// dead row. Rows that stay are updated, so that triggers, foreign keys and policies see the same row. Readers see all of it at the
// commit, or wait when keys or indexes have to change; writers wait while it is written, and if somebody has written since the rows
// were compared, also while they are compared again.

import type { Client } from '../../../db/client.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { writeEach, beside } from '../beside.ts';
import type { PublishPlan, Strategy } from '../contract.ts';
import { differencesOf, findDifferences, writeFound } from './differences.ts';
import type { KeyStep } from '../../alter/keys.ts';
import type { DeclaredTable } from '../../table/tables.ts';
import { dependentsText } from '../../table/dependents.ts';
import { ProductionChanged, type ProductionTable } from '../../table/production.ts';
import { refuseShape } from '../../table/shape.ts';

/** Rows are found by the declared key, so production must have it, or be given it. */
const refuseOtherKey = (table: DeclaredTable, { dependents, indexes }: ProductionTable): void => {
  if (dependents.every(({ kind }) => kind !== 'primary key')) return;
  const key = indexes.find(({ isPrimary }) => isPrimary)?.columns ?? [];
  if (key.join('\0') === table.primaryKey.join('\0')) return;
  refuseShape(
    table.table,
    `rows cannot be merged into ${table.schema}.${table.table}: its primary key is (${key.join(', ')}), and ${dependentsText(dependents)} depends on it`,
    'Declare that key, or drop what depends on it.',
  );
};

/** What these say of rows that were compared before the lock may be due to somebody who has written since. */
const mayBeStale = new Set(['23505', 'ETL_PUBLISH_WITHHELD']);

/** Writes what differs, or what has been found to differ already. Errors: ProductionChanged. */
const write = (client: Client, plan: PublishPlan): Promise<readonly KeyStep[]> =>
  plan.found === undefined
    ? writeFound(client, plan, findDifferences)
    : writeFound(client, plan, () => Promise.resolve()).catch((cause: unknown) => {
        throw mayBeStale.has(codeOf(cause) ?? '') ? new ProductionChanged() : cause;
      });

export const merge: Strategy = {
  ...beside,
  name: 'merge',

  check: (table, declared, production) => {
    beside.check(table, declared, production);
    refuseOtherKey(table, production);
  },

  needs: ({ table: { mode } }) => {
    if (mode.merge!.by === 'rebuild') return ['select'];
    return ['select', 'insert', 'update', ...(mode.deletes === true ? (['delete'] as const) : [])];
  },

  /** Rows that come are there afterwards, or newer ones with their keys. */
  rowsAtLeast: ({ rows, deletions }, before) => Math.max((before ?? 0) - deletions, rows),

  apply: (client, plans) => writeEach(client, plans, (_, plan) => write(client, plan)),

  changes: async (client, plan) => {
    const { rows, deletions, staged } = plan.table;
    const { insert, update, remove, older } = await differencesOf(client, plan);
    return {
      inserted: insert,
      updated: update,
      deleted: remove,
      unchanged: rows + deletions - insert - update - remove - older,
      superseded: staged - rows - deletions + older,
    };
  },

  /** `apply` has compared the rows that the server took with those that there are. */
  verify: async (client, plan, before) => {
    const { insert, remove } = await differencesOf(client, plan);
    return (before ?? 0) + insert - remove;
  },
};
