// Replaces a partitioned table, with all its partitions, by a built one.
//
// To attach or detach a partition, the server looks at all partitions of the table: exchanging 400
// takes more than a second. So new partitions are attached during the build, and the last query
// only renames tables. Proved by test/modes/publish-locks.test.ts, "all partitions".

import { quoteName } from '../../../db/sql.ts';
import { isBound, madeByHand } from '../../table/constraints-by-hand.ts';
import type { PublishPlan } from '../contract.ts';
import type { BuiltOver } from '../../table/built-over.ts';
import type { Heir } from '../../table/grants.ts';
import { builtName, productionName } from '../../../db/names.ts';
import type { BuiltPartition } from '../../table/tables.ts';
import { moveAway } from './keep.ts';
import { freeNames, moveIn, waitingName, type Move } from './move.ts';
import type { Dependent } from '../../table/dependents.ts';
import type { ProductionPartition, ProductionTable } from '../../table/production.ts';
import { isSecured, type Secured } from '../../table/row-security.ts';
import type { ViewOver } from '../../table/views.ts';
import { dropBound } from '../../aside/build-partitions.ts';

export interface AddedPartition extends Move {
  readonly built: BuiltPartition;
}

export interface Exchange {
  readonly plan: PublishPlan;
  readonly added: readonly AddedPartition[];
  readonly removed: readonly ProductionPartition[];
}

/**
 * True if a column is `not null` although no declaration, present or recorded, says so: set by
 * hand.
 */
const hasOwnNotNull = ({ builtAs }: BuiltOver, { columns, published }: ProductionTable): boolean => {
  const ours = new Set(published?.notNull);
  for (const { name, notNull } of builtAs.columns) if (notNull) ours.add(name);
  return columns.some(({ name, notNull }) => notNull && !ours.has(name));
};

const isCarried = (production: ProductionTable, { kind, name }: Dependent): boolean => {
  const { dependents, partitioning, security } = production;
  const count = (of: string): number => dependents.filter((one) => one.kind === of).length;
  // There is one dependent more if the table itself is a partition.
  if (kind === 'inheritance') return count(kind) === partitioning!.partitions.length;
  // There is one dependent more if a policy of another table reads this table.
  if (kind === 'policy') return security!.isReproducible && count(kind) === security!.policies.length;
  if (kind === 'constraint') return madeByHand(production).some((one) => one.name === name);
  return kind === 'partitioning' || kind === 'view' || kind === 'row security';
};

/**
 * Returns dependents that would be lost with the old table, and so prevent replacing it as a whole.
 */
export const keepersOf = (over: BuiltOver): readonly Dependent[] => {
  const production = over.production!;
  const { dependents, views, constraints, published } = production;
  const one = (is: boolean, kind: string, name: string): Dependent[] => (is ? [{ kind, name }] : []);
  return [
    ...(over.unlike ?? []),
    ...dependents.filter((dependent) => !isCarried(production, dependent)),
    ...views.flatMap(({ isReplaceable, name }) => one(!isReplaceable, 'view', name)),
    ...constraints.flatMap((key) => one(isBound(production, key), 'foreign key', key.name)),
    ...one(hasOwnNotNull(over, production), 'a column', 'that allows no nulls'),
    ...one(published?.isMade !== true, 'a table', 'that no run created'),
  ];
};

export const takesPlace = (over: BuiltOver): boolean =>
  over.production?.partitioning !== undefined &&
  over.table.touched === undefined &&
  keepersOf(over).length === 0;

export const removal = ({ table }: BuiltOver, production: ProductionPartition): Move => ({
  table: { ...table, table: production.name, built: production.name },
  builtAs: { oid: 0 },
  production,
});

export const heirsOf = ({ plan, added }: Exchange): readonly Heir[] => [
  ...(takesPlace(plan) ? [{ oid: plan.builtAs.oid, oldOid: plan.production!.oid }] : []),
  ...added.flatMap(({ builtAs, production: old }) =>
    old === undefined ? [] : [{ oid: builtAs.oid, oldOid: old.oid }],
  ),
];

export const moveWholeIn = ({ plan, added, removed }: Exchange): readonly string[] => [
  ...freeNames(plan),
  ...removed.flatMap((partition) => freeNames(removal(plan, partition))),
  ...added.flatMap((one) => [
    dropBound(builtName(one.table)),
    ...moveIn({ ...one, production: one.production ?? plan.production }),
  ]),
  ...moveIn(plan),
];

/**
 * Drops the old table's foreign keys. Until it is dropped, they would block deletes in referenced
 * tables.
 */
const dropForeignKeys = ({ table, production }: PublishPlan): readonly string[] => {
  const drops = production!.constraints.flatMap(({ name, on }) =>
    on === null ? [] : `drop constraint ${quoteName(name)}`,
  );
  return drops.length === 0 ? [] : [`alter table ${productionName(table)} ${drops.join(', ')};`];
};

export const takePlace = ({ plan, added, removed }: Exchange): readonly string[] => {
  const { table } = plan;
  const rename = (from: string, to: string): string =>
    `alter table ${quoteName(table.schema, from)} rename to ${quoteName(to)};`;
  return [
    ...dropForeignKeys(plan),
    ...removed.map(({ name, oid }) => rename(name, `etl_old_${oid}`)),
    ...moveAway(plan),
    ...added.map((one) => rename(waitingName(one), one.table.table)),
    rename(waitingName(plan), table.table),
  ];
};

export const securedBy = (exchanges: readonly Exchange[]): readonly Secured[] =>
  exchanges
    .filter(({ plan }) => takesPlace(plan))
    .map(({ plan }) => ({ name: productionName(plan.table), security: plan.production!.security! }))
    .filter(isSecured);

export const viewsOver = (exchanges: readonly Exchange[]): readonly ViewOver[] => {
  const views = exchanges.flatMap(({ plan }) => (takesPlace(plan) ? plan.production!.views : []));
  return [...new Map(views.map((view) => [view.oid, view])).values()];
};

export const lockedOf = ({ plan, removed }: Exchange): readonly string[] =>
  plan.production === undefined
    ? []
    : [productionName(plan.table), ...removed.map(({ schema, name }) => quoteName(schema, name))];
