// Puts a partitioned table that was built aside in the place of production's, with all its partitions.
//
// The server looks at all partitions again for each one that is detached or attached, so that an exchange of four hundred takes it
// more than a second. Here they are attached aside, where no reader waits: what is left for the last message are two names for each
// partition. The old partitions keep their schema, under other names, and go when their table is dropped after the commit.
// Proved by test/modes/publish-locks.test.ts, "all partitions".

import { quoteName } from '../../../db/sql.ts';
import { isBound, madeByHand } from '../../table/constraints-by-hand.ts';
import type { PublishPlan } from '../contract.ts';
import type { BuiltOver } from '../../table/built-over.ts';
import type { GrantHeir } from '../../table/grants.ts';
import type { Heir } from '../../aside/inherit.ts';
import { builtName, productionName, type TableNames } from '../../../db/names.ts';
import type { BuiltPartition } from '../../table/tables.ts';
import { moveAway } from './keep.ts';
import { freeNames, moveIn, waitingName, type Move } from './move.ts';
import type { Dependent } from '../../table/dependents.ts';
import type { ProductionPartition, ProductionTable } from '../../table/production.ts';
import { isSecured, type Secured } from '../../table/row-security.ts';
import type { ViewOver } from '../../table/views.ts';
import { dropBound } from '../../aside/build-partitions.ts';

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

/** Those that go with the new table, or with the partitions that leave. */
const isCarried = (production: ProductionTable, { kind, name }: Dependent): boolean => {
  const { dependents, partitioning, security } = production;
  const count = (of: string): number => dependents.filter((one) => one.kind === of).length;
  // One more, if the table is a partition itself.
  if (kind === 'inheritance') return count(kind) === partitioning!.partitions.length;
  // One more, if that of another table names this one.
  if (kind === 'policy') return security!.isReproducible && count(kind) === security!.policies.length;
  if (kind === 'constraint') return madeByHand(production).some((one) => one.name === name);
  return kind === 'partitioning' || kind === 'view' || kind === 'row security';
};

/** What keeps a table of which all partitions come: it would stay behind with it, or be lost. */
export const keepersOf = (over: BuiltOver): readonly Dependent[] => {
  const production = over.production!;
  const { dependents, views, constraints, published } = production;
  const one = (is: boolean, kind: string, name: string): Dependent[] => (is ? [{ kind, name }] : []);
  return [
    ...(over.unlike ?? []),
    ...dependents.filter((dependent) => !isCarried(production, dependent)),
    ...views.flatMap(({ isReplaceable, name }) => one(!isReplaceable, 'view', name)),
    ...constraints.flatMap((key) => one(isBound(production, key), 'foreign key', key.name)),
    ...one(hasOwnNotNull(over, production), 'a column', 'that takes no null'),
    ...one(published?.isMade !== true, 'that', 'no run has made it'),
  ];
};

/** Whether all partitions come, and nothing keeps the table: another one comes with them. */
export const takesPlace = (over: BuiltOver): boolean =>
  over.production?.partitioning !== undefined &&
  over.table.touched === undefined &&
  keepersOf(over).length === 0;

/** The names of a partition of production. */
export const namesIn = ({ table }: BuiltOver, name: string): TableNames => ({
  ...table,
  table: name,
  built: name,
});

/** Tables aside, and those that they are to be like. */
export const heirsOf = ({ plan, coming }: Exchange): readonly (Heir & GrantHeir)[] => [
  ...(takesPlace(plan)
    ? [{ name: builtName(plan.table), oid: plan.builtAs.oid, oldOid: plan.production!.oid }]
    : []),
  ...coming.flatMap(({ table, builtAs, production: old }) =>
    old === undefined ? [] : [{ name: builtName(table), oid: builtAs.oid, oldOid: old.oid }],
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

/** Foreign keys of the table that leaves: until it is dropped they would keep rows of the tables that they refer to. */
const dropForeignKeys = ({ table, production }: PublishPlan): readonly string[] => {
  const drops = production!.constraints.flatMap(({ name, on }) =>
    on === null ? [] : `drop constraint ${quoteName(name)}`,
  );
  return drops.length === 0 ? [] : [`alter table ${productionName(table)} ${drops.join(', ')};`];
};

/** Statements under locks that readers feel. */
export const takePlace = ({ plan, coming, leaving }: Exchange): readonly string[] => {
  const { table } = plan;
  const rename = (from: string, to: string): string =>
    `alter table ${quoteName(table.schema, from)} rename to ${quoteName(to)};`;
  return [
    ...dropForeignKeys(plan),
    ...leaving.map(({ name, oid }) => rename(name, `etl_old_${oid}`)),
    ...moveAway(plan),
    ...coming.map((one) => rename(waitingName(one), one.table.table)),
    rename(waitingName(plan), table.table),
  ];
};

/** Row security of tables that leave, which those in their places have with the same commit. */
export const securedBy = (exchanges: readonly Exchange[]): readonly Secured[] =>
  exchanges
    .filter(({ plan }) => takesPlace(plan))
    .map(({ plan }) => ({ name: productionName(plan.table), security: plan.production!.security! }))
    .filter(isSecured);

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
