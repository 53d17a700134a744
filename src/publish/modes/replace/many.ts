// What hundreds of partitions cost when they are exchanged, which the user should know beforehand.

import { formatSeconds } from '../../../core/amounts.ts';
import { formatCount } from '../../../core/wording.ts';
import type { PublishPlan } from '../contract.ts';
import { dependentsText } from '../../table/dependents.ts';
import { keepersOf } from './whole.ts';

/** The server looks at all partitions for each one that leaves or comes: 100 of 100 took 0.15 s, 400 of 400 some 2 s. */
const secondsEach = 15e-6;

/** What readers may feel. */
const waitSecondsMin = 0.1;

/** How long readers will wait. How many partitions come is not known before the rows are. */
export const waitText = (plan: PublishPlan, leaving: number): readonly string[] => {
  const exchanged = Math.max(leaving, plan.table.partitions?.length ?? 0);
  const seconds =
    exchanged * Math.max(exchanged, plan.production!.partitioning!.partitions.length) * secondsEach;
  if (seconds < waitSecondsMin) return [];
  const what = `readers and writers wait some ${formatSeconds(seconds)} while ${exchanged} partitions are exchanged`;
  return [plan.table.touched === undefined ? `${what}, because of ${dependentsText(keepersOf(plan))}` : what];
};

/** Who waits while the foreign keys of a table are made that takes the place of another. */
export const writersText = ({ production }: PublishPlan): readonly string[] => {
  const targets = [...new Set(production!.constraints.flatMap(({ target }) => target ?? []))];
  if (targets.length === 0) return [];
  return [`writers of ${targets.join(', ').replaceAll('"', '')} wait while its foreign keys are made`];
};

/** Of a partition that leaves and the one that comes, beside their indexes: the tables, and those of their long values. */
const locksEach = 4;

/** Whether the server may have no room for the locks of the last message: one for each partition and each of its indexes, old and new. */
export const locksText = (
  { table, builtAs, production }: PublishPlan,
  leaving: number,
): readonly string[] => {
  const exchanged = Math.max(leaving, table.partitions?.length ?? 0);
  const locks = exchanged * (locksEach + 2 * builtAs.indexes.length);
  const { locksMax } = production!;
  return locks <= locksMax
    ? []
    : [
        `publishing ${exchanged} partitions takes some ${formatCount(locks)} locks, and the server has room for ${formatCount(locksMax)}: ` +
          'raise max_locks_per_transaction and restart it, or declare larger partitions',
      ];
};
