// Replaces a partitioned table, with all its partitions, by a built one.
//
// For each attached or detached partition, the server looks at all partitions of the table, so
// exchanging 400 of them takes more than a second. Here the new partitions are attached during the
// build, where no reader waits, and the last query only renames each partition twice. Old
// partitions stay in the schema under other names, and are dropped with their table after the
// commit. Proved by test/modes/publish-locks.test.ts, "all partitions".

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

/** A new partition, with the one that it replaces. */
export interface AddedPartition extends Move {
  readonly built: BuiltPartition;
}

/** The partitions of one table that are added and removed. */
export interface Exchange {
  readonly plan: PublishPlan;
  readonly added: readonly AddedPartition[];
  readonly removed: readonly ProductionPartition[];
}

/** True if a column is not null, though neither this declaration nor an earlier one says so. */
const hasOwnNotNull = ({ builtAs }: BuiltOver, { columns, published }: ProductionTable): boolean => {
  const ours = new Set(published?.notNull);
  for (const { name, notNull } of builtAs.columns) if (notNull) ours.add(name);
  return columns.some(({ name, notNull }) => notNull && !ours.has(name));
};

/** True if a dependent is copied to the new table, or belongs to the replaced partitions. */
const isCarried = (production: ProductionTable, { kind, name }: Dependent): boolean => {
  const { dependents, partitioning, security } = production;
  const count = (of: string): number => dependents.filter((one) => one.kind === of).length;
  // There is one more if the table itself is a partition.
  if (kind === 'inheritance') return count(kind) === partitioning!.partitions.length;
  // There is one more if a policy of another table names this one.
  if (kind === 'policy') return security!.isReproducible && count(kind) === security!.policies.length;
  if (kind === 'constraint') return madeByHand(production).some((one) => one.name === name);
  return kind === 'partitioning' || kind === 'view' || kind === 'row security';
};

/** Dependents that prevent replacing the whole table: they would be lost with the old one. */
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

/** True if all partitions are replaced and nothing prevents replacing the table itself, too. */
export const takesPlace = (over: BuiltOver): boolean =>
  over.production?.partitioning !== undefined &&
  over.table.touched === undefined &&
  keepersOf(over).length === 0;

/** A partition of production that is removed, with its names. */
export const removal = ({ table }: BuiltOver, production: ProductionPartition): Move => ({
  table: { ...table, table: production.name, built: production.name },
  builtAs: { oid: 0 },
  production,
});

/** New tables, and the old ones whose properties they take. */
export const heirsOf = ({ plan, added }: Exchange): readonly Heir[] => [
  ...(takesPlace(plan) ? [{ oid: plan.builtAs.oid, oldOid: plan.production!.oid }] : []),
  ...added.flatMap(({ builtAs, production: old }) =>
    old === undefined ? [] : [{ oid: builtAs.oid, oldOid: old.oid }],
  ),
];

/** Moves the new table and its partitions into production's schema, without blocking readers. */
export const moveWholeIn = ({ plan, added, removed }: Exchange): readonly string[] => [
  ...freeNames(plan),
  ...removed.flatMap((partition) => freeNames(removal(plan, partition))),
  ...added.flatMap((one) => [
    dropBound(builtName(one.table)),
    ...moveIn({ ...one, production: one.production ?? plan.production }),
  ]),
  ...moveIn(plan),
];

/** Until the old table is dropped, its foreign keys would block deletes in referenced tables. */
const dropForeignKeys = ({ table, production }: PublishPlan): readonly string[] => {
  const drops = production!.constraints.flatMap(({ name, on }) =>
    on === null ? [] : `drop constraint ${quoteName(name)}`,
  );
  return drops.length === 0 ? [] : [`alter table ${productionName(table)} ${drops.join(', ')};`];
};

/** Statements under locks that block readers. */
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

/** Row security that must be copied with the commit. */
export const securedBy = (exchanges: readonly Exchange[]): readonly Secured[] =>
  exchanges
    .filter(({ plan }) => takesPlace(plan))
    .map(({ plan }) => ({ name: productionName(plan.table), security: plan.production!.security! }))
    .filter(isSecured);

/** Views over the replaced tables, each once. */
export const viewsOver = (exchanges: readonly Exchange[]): readonly ViewOver[] => {
  const views = exchanges.flatMap(({ plan }) => (takesPlace(plan) ? plan.production!.views : []));
  return [...new Map(views.map((view) => [view.oid, view])).values()];
};

/** Quoted names of the tables that are locked against readers. */
export const lockedOf = ({ plan, removed }: Exchange): readonly string[] =>
  plan.production === undefined
    ? []
    : [productionName(plan.table), ...removed.map(({ schema, name }) => quoteName(schema, name))];
