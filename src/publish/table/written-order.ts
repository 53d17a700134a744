// The order in which tables are written if deleting a row of one deletes or changes rows of
// another.

import type { BuiltOver } from './built-over.ts';
import { foreignKeysOf, targetAt } from './foreign-keys.ts';

/** Sorts tables so that referenced tables come first. Tables in a cycle come in any order. */
export const parentsFirst = <Plan extends BuiltOver>(plans: readonly Plan[]): readonly Plan[] => {
  const tables = plans.map(({ table }) => table);
  const ordered = new Set<Plan>();
  const visited = new Set<Plan>();
  const visit = (plan: Plan): void => {
    if (visited.has(plan)) return;
    visited.add(plan);
    for (const key of foreignKeysOf(plan.table)) {
      const parent = plans[targetAt(plan.table, key, tables)];
      if (parent !== undefined) visit(parent);
    }
    ordered.add(plan);
  };
  for (const plan of plans) visit(plan);
  return [...ordered];
};

/** True if deletes in one of these tables also delete or change rows of this one. */
export const followsDeletes = ({ table }: BuiltOver, plans: readonly BuiltOver[]): boolean => {
  const tables = plans.map((plan) => plan.table);
  return foreignKeysOf(table).some(
    (key) => key.onDelete !== 'no action' && targetAt(table, key, tables) !== -1,
  );
};
