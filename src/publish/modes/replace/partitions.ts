// The strategy 'partitions': replaces partitions of production by built ones. The table itself is
// kept if something depends on it or if only some partitions are replaced; otherwise whole.ts
// replaces everything.
//
// Only one query blocks readers: it locks the table, detaches old partitions, attaches new ones and
// commits. New partitions have checks that repeat their bounds, so the server need not scan them.
// Proved by test/modes/partitions.test.ts.

import type { Client } from '../../../db/client.ts';
import { quoteName, quoteText } from '../../../db/sql.ts';
import { declaredOn } from '../../table/attributes.ts';
import { makeOwnByHand } from '../../table/constraints-by-hand.ts';
import type { PublishPlan, Strategy, Rest } from '../contract.ts';
import { inheritGrants } from '../../table/grants.ts';
import { inherit } from '../../aside/inherit.ts';
import { keyChanges } from '../../alter/keys.ts';
import { checkUnchanged, freeNames, inheritDefaults, moveIn, waitingName, type Move } from './move.ts';
import { builtName, productionName } from '../../../db/names.ts';
import { rowsWith } from '../../table/tables.ts';
import { dropBound } from '../../aside/build-partitions.ts';
import { keyOfBound } from '../../table/bounds.ts';
import { takeOutAndConstrain, refuseTaken } from '../../alter/fit-partitions.ts';
import { locksText, waitText, writersText } from './many.ts';
import { mustKeepRows } from '../../table/partition-shape.ts';
import type { ProductionPartition } from '../../table/production.ts';
import { builtStates } from '../../table/table-state.ts';
import { checkRowSecurity, giveRowSecurity } from '../../table/row-security.ts';
import { checkViews, replaceViews } from '../../table/views.ts';
import { refuseUnlikeChecks, unlikeOf } from './unlike.ts';
import { publishRefusalOfAny } from '../../refusals.ts';
import { fittingHint, isOthers } from '../../table/fitting.ts';
import { differenceOf, movingAway, refuseShape } from '../../table/shape.ts';
import {
  heirsOf,
  lockedOf,
  moveWholeIn,
  removal,
  securedBy,
  takePlace,
  takesPlace,
  viewsOver,
  type AddedPartition,
  type Exchange,
} from './whole.ts';

const removedOf = ({ table, production }: PublishPlan): readonly ProductionPartition[] => {
  const replaced = table.touched && new Set(table.touched.keys);
  const before = production?.partitioning?.partitions ?? [];
  return before.filter(({ bound }) => replaced?.has(keyOfBound(table.partitionBy!, bound)!) ?? true);
};

const exchangesOf = async (client: Client, plans: readonly PublishPlan[]): Promise<readonly Exchange[]> => {
  const built = plans.flatMap(({ table }) => table.partitions ?? []);
  const states = (
    await builtStates(
      client,
      built.map(({ names }) => names),
    )
  ).values();
  return plans.map((plan): Exchange => {
    const { table, production } = plan;
    const before = production?.partitioning?.partitions ?? [];
    if (table.partitions === undefined)
      return refuseShape(
        table.table,
        'the earlier version has no partitions, but the table has',
        'Load its files again.',
      );
    const added = table.partitions.map((one): AddedPartition => {
      const old = before.find(({ bound }) => keyOfBound(table.partitionBy!, bound) === one.key);
      const { oid } = states.next().value!;
      return { built: one, table: one.names, builtAs: { oid }, production: old };
    });
    return { plan, added, removed: removedOf(plan) };
  });
};

const prepare = async (client: Client, exchanges: readonly Exchange[]): Promise<void> => {
  await refuseTaken(client, exchanges);
  const stays = exchanges.filter(({ plan }) => plan.production !== undefined);
  const first = exchanges.filter(({ plan }) => plan.production === undefined);
  const whole = stays.filter(({ plan }) => takesPlace(plan));
  const exchanged = stays.filter(({ plan }) => !takesPlace(plan));
  // Constraints are created first, because comments and other properties may refer to them.
  await makeOwnByHand(
    client,
    whole.map(({ plan }) => plan),
  );
  const heirs = stays.flatMap(heirsOf);
  await inherit(client, heirs);
  await inheritDefaults(
    client,
    first.map(({ plan }) => plan),
  );
  await takeOutAndConstrain(client, exchanged);
  const statements = [
    ...exchanges.flatMap(({ plan, added }) => [
      ...(plan.production === undefined || takesPlace(plan)
        ? declaredOn(builtName(plan.table), plan.table, 'whole')
        : []),
      ...added.flatMap(({ table }) => declaredOn(builtName(table), plan.table, 'part')),
    ]),
    ...whole.flatMap(moveWholeIn),
    ...exchanged.flatMap(({ plan, added, removed }) => [
      ...removed.flatMap((partition) => freeNames(removal(plan, partition))),
      ...added.flatMap((one) => moveIn({ ...one, production: one.production ?? plan.production })),
    ]),
    ...first.flatMap(({ plan, added }) => [
      ...added.flatMap(({ table }) => [
        dropBound(builtName(table)),
        `alter table ${builtName(table)} set schema ${quoteName(table.schema)};`,
      ]),
      ...moveIn(plan),
    ]),
  ];
  await client.query(statements.join('\n'));
  await inheritGrants(client, heirs);
};

/** Leaves out partitions that are removed, because they need no changes. */
const stayingOf = ({ plan, removed }: Pick<Exchange, 'plan' | 'removed'>): PublishPlan => {
  const production = plan.production!;
  const { partitioning } = production;
  if (partitioning === undefined) return plan;
  const partitions = partitioning.partitions.filter((one) => !removed.includes(one));
  return { ...plan, production: { ...production, partitioning: { ...partitioning, partitions } } };
};

const referredBy = (exchanges: readonly Exchange[]): readonly string[] =>
  exchanges.flatMap(({ plan }) => plan.production?.constraints.flatMap(({ target }) => target ?? []) ?? []);

/**
 * Drops foreign keys of removed partitions, which would still block deletes in referenced tables.
 */
const dropForeignKeys = (exchanges: readonly Exchange[]): readonly string[] => {
  const left = exchanges.flatMap(({ plan, removed }) =>
    takesPlace(plan) ? [] : removed.map(({ oid }) => oid),
  );
  if (referredBy(exchanges).length === 0 || left.length === 0) return [];
  const body = `declare drops text; begin
    for drops in select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint
        where contype = 'f' and conparentid = 0 and conrelid = any ('{${left.join(',')}}'::oid[]) loop
      execute drops;
    end loop;
  end`;
  return [`do ${quoteText(body)};`];
};

const exchange = ({ plan, added, removed }: Exchange): readonly string[] => {
  const { table, production } = plan;
  const name = productionName(table);
  if (production === undefined)
    return [`alter table ${quoteName(table.schema, waitingName(plan))} rename to ${quoteName(table.table)};`];
  if (takesPlace(plan)) return takePlace({ plan, added, removed });
  const { drop, key, make } = keyChanges(stayingOf({ plan, removed }));
  return [
    ...removed.flatMap((old) => [
      `alter table ${name} detach partition ${quoteName(old.schema, old.name)};`,
      `alter table ${quoteName(old.schema, old.name)} set schema ${quoteName(table.buildSchema)};`,
    ]),
    ...[...drop, ...key, ...make].map(({ sql }) => `${sql};`),
    ...added.flatMap((one) => [
      `alter table ${quoteName(table.schema, waitingName(one))} rename to ${quoteName(one.table.table)};`,
      `alter table ${name} attach partition ${productionName(one.table)} ${one.built.bound};`,
      dropBound(productionName(one.table)),
    ]),
  ];
};

const watchedOf = ({ plan, removed }: Exchange): readonly Move[] => [
  plan,
  ...removed.map((partition) => removal(plan, partition)),
];

const apply = async (client: Client, plans: readonly PublishPlan[]): Promise<Rest> => {
  const exchanges = await exchangesOf(client, plans);
  await prepare(client, exchanges).catch((cause: unknown) => {
    throw publishRefusalOfAny(plans, cause);
  });
  const views = viewsOver(exchanges);
  const secured = securedBy(exchanges);
  return {
    views,
    locked: exchanges.flatMap(lockedOf),
    touched: referredBy(exchanges),
    last: [
      checkUnchanged(client, exchanges.flatMap(watchedOf)),
      ...checkViews(views),
      ...checkRowSecurity(secured),
      ...exchanges.flatMap(exchange),
      ...giveRowSecurity(secured),
      ...replaceViews(views),
      ...dropForeignKeys(exchanges),
    ],
  };
};

export const partitions: Strategy = {
  name: 'partitions',
  writes: false,
  takes: ({ partitionBy }, production) => partitionBy !== undefined && !mustKeepRows(production),
  check: (names, declared, production) => {
    const { schema, table } = names;
    const difference = differenceOf(declared, production.columns);
    if (difference !== '')
      refuseShape(
        table,
        `${schema}.${table} is kept when its partitions are replaced, but its columns differ from the declaration: ${difference}`,
        isOthers(production)
          ? fittingHint(names, declared, production, true)
          : `Change the columns of the table or of the declaration; or ${movingAway(names, production)}.`,
      );
  },

  tryAside: async (client, over) => {
    const unlike = await unlikeOf(client, over);
    await refuseUnlikeChecks(client, { ...over, unlike });
    return unlike;
  },
  rowsAtLeast: rowsWith,
  notice: (plan) => {
    const { schema, table, touched } = plan.table;
    if (plan.production === undefined) return undefined;
    const removed = removedOf(plan);
    const notices = [...locksText(plan, removed.length)];
    if (takesPlace(plan)) notices.push(...writersText(plan));
    if (!takesPlace(plan)) {
      notices.push(...waitText(plan, removed.length));
      const { texts } = keyChanges(stayingOf({ plan, removed }));
      const when = touched === undefined ? 'for a moment' : 'while all partitions change';
      if (texts.length > 0) notices.push(`readers and writers wait ${when}: ${texts.join(', ')}`);
    }
    return notices.length === 0 ? undefined : `${schema}.${table}: ${notices.join('; ')}`;
  },
  apply,

  oidInProduction: (plan) =>
    plan.production === undefined || takesPlace(plan) ? plan.builtAs.oid : plan.production.oid,
};
