// Warnings about the cost of replacing hundreds of partitions.

import { formatSeconds } from '../../../core/amounts.ts';
import { formatCount } from '../../../core/wording.ts';
import type { PublishPlan } from '../contract.ts';
import { dependentsText } from '../../table/dependents.ts';
import { keepersOf } from './whole.ts';

/** Seconds for exchanging n of m partitions: this × n × m. Exchanging 400 of 400 took 2 s. */
const secondsEach = 15e-6;

const waitSecondsMin = 0.1;

export const waitText = (plan: PublishPlan, removed: number): readonly string[] => {
  const exchanged = Math.max(removed, plan.table.partitions?.length ?? 0);
  const seconds =
    exchanged * Math.max(exchanged, plan.production!.partitioning!.partitions.length) * secondsEach;
  if (seconds < waitSecondsMin) return [];
  const what = `readers and writers wait some ${formatSeconds(seconds)} while ${exchanged} partitions are exchanged`;
  return [plan.table.touched === undefined ? `${what}, because of ${dependentsText(keepersOf(plan))}` : what];
};

export const writersText = ({ production }: PublishPlan): readonly string[] => {
  const targets = [...new Set(production!.constraints.flatMap(({ target }) => target ?? []))];
  if (targets.length === 0) return [];
  return [`writers of ${targets.join(', ').replaceAll('"', '')} wait while its foreign keys are made`];
};

/** Locks per replaced partition, without indexes: two tables and their TOAST tables. */
const locksEach = 4;

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
