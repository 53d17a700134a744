// The strategy 'merge': updates rows with the key of a record, and inserts the other records.
//
// Only changes are written: an unchanged row costs no log and leaves no dead row. Rows are updated
// in place, so that triggers, foreign keys and policies see the same row. Readers see everything
// after the commit, or wait if keys or indexes change. Writers wait.

import type { Client } from '../../../db/client.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { literal } from '../../../core/source-text.ts';
import { writeEach, beside } from '../beside.ts';
import type { PublishPlan, Strategy } from '../contract.ts';
import { differencesOf, findDifferences, writeFound } from './differences.ts';
import type { KeyStep } from '../../alter/keys.ts';
import type { DeclaredTable } from '../../table/tables.ts';
import { dependentsText } from '../../table/dependents.ts';
import { ProductionChanged, type ProductionTable } from '../../table/production.ts';
import { isOthers } from '../../table/fitting.ts';
import { refuseShape } from '../../table/shape.ts';
import { isUniqueBy } from '../../table/table-state.ts';

/** Refuses a table with a different primary key, because rows are found by the declared key. */
const refuseOtherKey = (table: DeclaredTable, production: ProductionTable): void => {
  const { dependents, indexes } = production;
  if (isUniqueBy({ indexes }, table.primaryKey)) return;
  if (table.evolve === 'keep') {
    const unique = indexes.filter(({ columns }) => isUniqueBy({ indexes }, columns));
    const keys = unique.map(({ columns }) => `primaryKey: [${columns.map(literal).join(', ')}]`);
    refuseShape(
      table.table,
      `rows cannot be merged into ${table.schema}.${table.table}: no unique index is on (${table.primaryKey.join(', ')})`,
      keys.length === 0
        ? "It has none that could find a row: publish: 'append' needs none."
        : `Declare a key that it has: \`${keys.join('`, `')}\`.`,
    );
  }
  if (dependents.every(({ kind }) => kind !== 'primary key')) return;
  const key = indexes.find(({ isPrimary }) => isPrimary)?.columns ?? [];
  refuseShape(
    table.table,
    `rows cannot be merged into ${table.schema}.${table.table}: its primary key is (${key.join(', ')}), and ${dependentsText(dependents)} depends on it`,
    isOthers(production) ? 'Declare that key.' : 'Declare that key, or drop what depends on it.',
  );
};

/** Errors that another session may have caused by writing after the differences were found. */
const mayBeStale = new Set(['23505', 'ETL_PUBLISH_WITHHELD']);

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

  /** After the merge, every key of the run has a row: the run's, or a newer one. */
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

  verify: async (client, plan, before) => {
    const { insert, remove } = await differencesOf(client, plan);
    return (before ?? 0) + insert - remove;
  },
};
