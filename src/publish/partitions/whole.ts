// Puts a divided table that was built aside in the place of production's, with all its partitions.
//
// The server looks at all partitions again for each one that is detached or attached, so that an exchange of four hundred takes it
// more than a second. Here they are attached aside, where no reader waits: what is left for the last message are two names for each
// partition. The old partitions keep their schema, under other names, and go when their table is dropped after the commit.
// Proved by test/modes/publish-locks.test.ts, "all partitions".

import { quoteName } from '../../db/sql.ts';
import { foreignKeysOf } from '../constraints/foreign-keys.ts';
import type { BuiltOver, PublishPlan } from '../contract.ts';
import type { Heir } from '../inherit.ts';
import { builtName, productionName, type BuiltPartition, type TableNames } from '../names.ts';
import { moveAway } from '../production/keep.ts';
import { freeNames, moveIn, waitingName, type Move } from '../production/move.ts';
import type { ProductionPartition, ProductionTable } from '../production/production.ts';
import type { ViewOver } from '../production/views.ts';
import { dropBound } from './build.ts';

/** A partition that comes, and the one that has its place. */
export interface Coming extends Move {
  readonly built: BuiltPartition;
}

/** What an exchange does to one table. */
export interface Exchange {
  readonly plan: PublishPlan;
  readonly coming: readonly Coming[];
  readonly leaving: readonly ProductionPartition[];
}

/** Columns that allow no nulls, though neither this declaration nor an earlier one says so. */
const hasOwnNotNull = ({ builtAs }: BuiltOver, { columns, published }: ProductionTable): boolean => {
  const ours = new Set(published?.notNull);
  for (const { name, notNull } of builtAs.columns) if (notNull) ours.add(name);
  return columns.some(({ name, notNull }) => notNull && !ours.has(name));
};

/**
 * Whether all partitions come, and nothing hangs on the table but the old ones and views that can read another one: policies,
 * foreign keys and constraints made by hand would stay with it.
 */
export const takesPlace = (over: BuiltOver): boolean => {
  const { table, production } = over;
  if (production?.division === undefined || table.touched !== undefined) return false;
  const { dependents, division, constraints, views } = production;
  const others = dependents.filter(({ kind }) => kind !== 'partitioning' && kind !== 'view');
  return (
    // One more, if the table is a partition itself.
    others.length === division.partitions.length &&
    others.every(({ kind }) => kind === 'inheritance') &&
    views.every(({ isReplaceable }) => isReplaceable) &&
    foreignKeysOf(table).length === 0 &&
    constraints.every(({ on }) => on === null) &&
    production.published?.isMade === true &&
    !hasOwnNotNull(over, production)
  );
};

/** The names of a partition of production. */
export const namesIn = ({ table }: BuiltOver, name: string): TableNames => ({
  ...table,
  table: name,
  built: name,
});

/** Tables aside, and those that they are to be like. */
export const heirsOf = ({ plan, coming }: Exchange): readonly Heir[] => [
  ...(takesPlace(plan) ? [{ name: builtName(plan.table), oldOid: plan.production!.oid }] : []),
  ...coming.flatMap(({ table, production: old }) =>
    old === undefined ? [] : [{ name: builtName(table), oldOid: old.oid }],
  ),
];

/** Moves the new table and its partitions beside the old ones, where no reader feels it. */
export const moveWholeIn = ({ plan, coming, leaving }: Exchange): readonly string[] => [
  ...freeNames(plan),
  ...leaving.flatMap((production) =>
    freeNames({ table: namesIn(plan, production.name), builtAs: { oid: 0 }, production }),
  ),
  ...coming.flatMap((one) => [
    dropBound(builtName(one.table)),
    ...moveIn({ ...one, production: one.production ?? plan.production }),
  ]),
  ...moveIn(plan),
];

/** Statements under locks that readers feel. */
export const takePlace = ({ plan, coming, leaving }: Exchange): readonly string[] => {
  const { table } = plan;
  const rename = (from: string, to: string): string =>
    `alter table ${quoteName(table.schema, from)} rename to ${quoteName(to)};`;
  return [
    ...leaving.map(({ name, oid }) => rename(name, `etl_old_${oid}`)),
    ...moveAway(plan),
    ...coming.map((one) => rename(waitingName(one), one.table.table)),
    rename(waitingName(plan), table.table),
  ];
};

/** Views over tables that leave, each once. */
export const viewsOver = (exchanges: readonly Exchange[]): readonly ViewOver[] => {
  const views = exchanges.flatMap(({ plan }) => (takesPlace(plan) ? plan.production!.views : []));
  return [...new Map(views.map((view) => [view.oid, view])).values()];
};

/** Quoted names of what readers are locked out of. */
export const lockedOf = ({ plan, leaving }: Exchange): readonly string[] =>
  plan.production === undefined
    ? []
    : [productionName(plan.table), ...leaving.map(({ schema, name }) => quoteName(schema, name))];
