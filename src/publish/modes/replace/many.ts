// Warnings about the cost of replacing hundreds of partitions.

import { formatSeconds } from '../../../core/amounts.ts';
import { formatCount } from '../../../core/wording.ts';
import type { PublishPlan } from '../contract.ts';
import { dependentsText } from '../../table/dependents.ts';
import { keepersOf } from './whole.ts';

/** Seconds per pair of exchanged and existing partitions; 400 of 400 took 2 s. */
const secondsEach = 15e-6;

/** Shorter waits are not worth a warning. */
const waitSecondsMin = 0.1;

/** How long readers will wait. Before loading, the number of new partitions is unknown. */
export const waitText = (plan: PublishPlan, removed: number): readonly string[] => {
  const exchanged = Math.max(removed, plan.table.partitions?.length ?? 0);
  const seconds =
    exchanged * Math.max(exchanged, plan.production!.partitioning!.partitions.length) * secondsEach;
  if (seconds < waitSecondsMin) return [];
  const what = `readers and writers wait some ${formatSeconds(seconds)} while ${exchanged} partitions are exchanged`;
  return [plan.table.touched === undefined ? `${what}, because of ${dependentsText(keepersOf(plan))}` : what];
};

/** Who waits while the foreign keys of the new table are made. */
export const writersText = ({ production }: PublishPlan): readonly string[] => {
  const targets = [...new Set(production!.constraints.flatMap(({ target }) => target ?? []))];
  if (targets.length === 0) return [];
  return [`writers of ${targets.join(', ').replaceAll('"', '')} wait while its foreign keys are made`];
};

/** Locks per replaced partition, without indexes: two tables and their TOAST tables. */
const locksEach = 4;

/** Warns if the last query may need more locks than the server has room for. */
export const locksText = (
  { table, builtAs, production }: PublishPlan,
  removed: number,
): readonly string[] => {
  const exchanged = Math.max(removed, table.partitions?.length ?? 0);
  const locks = exchanged * (locksEach + 2 * builtAs.indexes.length);
  const { locksMax } = production!;
  return locks <= locksMax
    ? []
    : [
        `publishing ${exchanged} partitions takes some ${formatCount(locks)} locks, and the server has room for ${formatCount(locksMax)}: ` +
          'raise max_locks_per_transaction and restart it, or declare larger partitions',
      ];
};
