// The publication 'partitions': puts partitions that were built aside in the places of production's. The table itself stays, and with
// it all that depends on it.
//
// Readers feel one message to the server, as with a swap: it locks the table, detaches the old partitions, attaches the new ones and
// commits. The checks of the new ones say what their bounds say, so that the server reads none of them. The old ones go to the build
// schema, and are dropped after the commit. Proved by test/integration/partitions.test.ts.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { buildAside, checkCopied } from '../build-table.ts';
import type { PublishPlan, Publication, Rest } from '../contract.ts';
import { inherit, setComment } from '../inherit.ts';
import { changesOf } from '../in-place.ts';
import {
  checkUnchanged,
  freeNames,
  inheritDefaults,
  moveIn,
  waitingName,
  type Move,
} from '../production/move.ts';
import { builtName, productionName, rowsWith, type BuiltPartition } from '../names.ts';
import { dropBound } from './build.ts';
import { keyOfBound } from './bounds.ts';
import { copyConstraints, refuseTaken } from './fit.ts';
import { mustKeepRows } from './shape.ts';
import type { ProductionPartition } from '../production/production.ts';
import { readCatalogues } from '../production/production.ts';
import { builtStates } from '../production/table-state.ts';
import { refusalOfAny } from '../refusals.ts';
import { differenceOf, refuseShape } from '../shape.ts';

/** A partition that comes, and the one that has its place. */
interface Coming extends Move {
  readonly built: BuiltPartition;
}

/** What an exchange does to one table. */
interface Exchange {
  readonly plan: PublishPlan;
  readonly coming: readonly Coming[];
  readonly leaving: readonly ProductionPartition[];
}

const namesIn = ({ table }: PublishPlan, name: string) => ({ ...table, table: name, built: name });

/** Which partitions come and leave: all that production has, or those that are touched. */
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
    const before = production?.division?.partitions ?? [];
    if (table.partitions === undefined)
      return refuseShape(
        table.table,
        'an earlier version has no partitions, and the table has',
        'Load its files again.',
      );
    const coming = table.partitions.map((one): Coming => {
      const old = before.find(({ bound }) => keyOfBound(table.partitionBy!, bound) === one.key);
      const { oid } = states.next().value!;
      return { built: one, table: one.names, builtAs: { oid }, production: old };
    });
    const replaced = table.touched && new Set(table.touched.keys);
    const leaving = before.filter(
      ({ bound }) => replaced?.has(keyOfBound(table.partitionBy!, bound)!) ?? true,
    );
    return { plan, coming, leaving };
  });
};

/** Everything that can be done before readers feel it: names, owners, grants, and what the table asks of its partitions. */
const prepare = async (client: Client, exchanges: readonly Exchange[]): Promise<void> => {
  await refuseTaken(client, exchanges);
  const stays = exchanges.filter(({ plan }) => plan.production !== undefined);
  const first = exchanges.filter(({ plan }) => plan.production === undefined);
  await inherit(
    client,
    stays.flatMap(({ coming }) =>
      coming.flatMap(({ table, production: old }) =>
        old === undefined ? [] : [{ name: builtName(table), oldOid: old.oid, comment: undefined }],
      ),
    ),
  );
  await inheritDefaults(
    client,
    first.map(({ plan }) => plan.table),
  );
  await copyConstraints(client, stays);
  const statements = [
    ...stays.flatMap(({ plan, coming, leaving }) => [
      ...coming.map(
        ({ table }) => `alter table ${builtName(plan.table)} detach partition ${builtName(table)};`,
      ),
      ...leaving.flatMap((production) =>
        freeNames({ table: namesIn(plan, production.name), builtAs: { oid: 0 }, production }),
      ),
      ...coming.flatMap((one) => moveIn({ ...one, production: one.production ?? plan.production })),
    ]),
    ...first.flatMap(({ plan, coming }) => [
      ...coming.flatMap(({ table }) => [
        dropBound(builtName(table)),
        `alter table ${builtName(table)} set schema ${quoteName(table.schema)};`,
      ]),
      ...moveIn(plan),
    ]),
  ];
  await client.query(statements.join('\n'));
};

/** Statements under locks that readers feel. */
const exchange = ({ plan, coming, leaving }: Exchange): readonly string[] => {
  const { table, production } = plan;
  const name = productionName(table);
  if (production === undefined)
    return [`alter table ${quoteName(table.schema, waitingName(plan))} rename to ${quoteName(table.table)};`];
  const { drop, key, make } = changesOf(plan);
  return [
    ...leaving.flatMap((old) => [
      `alter table ${name} detach partition ${quoteName(old.schema, old.name)};`,
      `alter table ${quoteName(old.schema, old.name)} set schema ${quoteName(table.buildSchema)};`,
    ]),
    ...[...drop, ...key, ...make].map(({ sql }) => `${sql};`),
    ...coming.flatMap((one) => [
      `alter table ${quoteName(table.schema, waitingName(one))} rename to ${quoteName(one.table.table)};`,
      `alter table ${name} attach partition ${productionName(one.table)} ${one.built.bound};`,
      dropBound(productionName(one.table)),
    ]),
    ...(table.comment === undefined ? [] : [`${setComment(name, table.comment).text};`]),
  ];
};

/** Tables that the last message looks at once more: they have not changed since the plan. */
const watchedOf = ({ plan, leaving }: Exchange): readonly Move[] => [
  plan,
  ...leaving.map((production) => ({
    table: namesIn(plan, production.name),
    builtAs: { oid: 0 },
    production,
  })),
];

const apply = async (client: Client, plans: readonly PublishPlan[]): Promise<Rest> => {
  const exchanges = await exchangesOf(client, plans);
  await prepare(client, exchanges).catch((cause: unknown) => {
    throw refusalOfAny(plans, cause);
  });
  const has = await readCatalogues(client);
  return {
    locked: exchanges.flatMap(({ plan, leaving }) =>
      plan.production === undefined
        ? []
        : [productionName(plan.table), ...leaving.map(({ schema, name }) => quoteName(schema, name))],
    ),
    last: [checkUnchanged(exchanges.flatMap(watchedOf), has), ...exchanges.flatMap(exchange)],
  };
};

export const partitions: Publication = {
  name: 'partitions',
  writes: false,
  summary: undefined,
  takes: ({ partitionBy }, production) => partitionBy !== undefined && !mustKeepRows(production),
  check: ({ schema, table }, declared, { columns }) => {
    const difference = differenceOf(declared, columns);
    if (difference !== '')
      refuseShape(
        table,
        `${schema}.${table} stays when its partitions are replaced, and its columns differ from the declaration: ${difference}`,
        'Change the columns of the table or of the declaration; or rename the table, so that the next run makes it again.',
      );
  },

  build: buildAside,
  rowsAtLeast: rowsWith,
  blocksReaders: () => false,
  notice: (plan) => {
    const { schema, table, touched } = plan.table;
    const { texts } = touched === undefined ? { texts: [] } : changesOf(plan);
    return texts.length === 0
      ? undefined
      : `${schema}.${table}: readers and writers wait while keys and indexes of all partitions change: ${texts.join(', ')}`;
  },
  apply,

  verify: async (_, { table }, copied, before) => {
    checkCopied(table.table, copied, table.staged);
    return rowsWith(table, before);
  },

  oidInProduction: ({ builtAs, production }) => production?.oid ?? builtAs.oid,
};
