// The strategy 'swap': replaces production tables by built ones. Only one query blocks readers: it
// locks, checks that nothing has changed, swaps and commits. So the server never waits for us while
// it holds locks, even if this process is frozen.
//
// Before this query, the new tables are moved into production's schema under temporary names, which
// halves the query's work. Old tables are dropped after the commit, or kept in etl_kept. Proved by
// test/modes/publish-locks.test.ts, "in one message".

import type { Client } from '../../../db/client.ts';
import { askTogether } from '../../../db/ask-together.ts';
import { quoteName, quoteText } from '../../../db/sql.ts';
import { declaredOn } from '../../table/attributes.ts';
import { foreignKeysOf } from '../../table/foreign-keys.ts';
import type { Strategy, PublishPlan } from '../contract.ts';
import type { BuiltOver } from '../../table/built-over.ts';
import { inheritGrants } from '../../table/grants.ts';
import { inherit } from '../../aside/inherit.ts';
import { isKept, moveAway, returnNames } from './keep.ts';
import { checkUnchanged, freeNames, inheritDefaults, moveIn, waitingName } from './move.ts';
import { builtName, fittingName, namesInProduction, productionName } from '../../../db/names.ts';
import type { DeclaredTable } from '../../table/tables.ts';
import type { ProductionTable } from '../../table/production.ts';
import { publishRefusalOfAny } from '../../refusals.ts';
import { fittingHint, isOthers } from '../../table/fitting.ts';
import { differenceOf, refuseShape } from '../../table/shape.ts';
import type { TableColumn, TableConstraint } from '../../table/table-state.ts';

const addedByHand = (declared: readonly TableColumn[], { columns, published }: ProductionTable): string[] => {
  const known = new Set([...declared.map(({ name }) => name), ...(published?.columns ?? [])]);
  return columns.map(({ name }) => name).filter((name) => !known.has(name));
};

/** Refuses to remove columns that no run created. Proved by test/modes/publish-protects.test.ts. */
const refuseLoss = (
  names: DeclaredTable,
  declared: readonly TableColumn[],
  production: ProductionTable,
): void => {
  const { schema, table } = names;
  const difference = differenceOf(declared, production.columns);
  if (difference === '') return;
  if (production.published === undefined)
    refuseShape(
      table,
      `no run has published ${schema}.${table}, and its columns differ from the declaration: ${difference}`,
      fittingHint(names, declared, production, true),
    );
  // Old runs did not record columns, so nobody can tell which were added by hand.
  const added = production.published?.columns == null ? [] : addedByHand(declared, production);
  if (added.length > 0)
    refuseShape(
      table,
      `${added.length === 1 ? 'column' : 'columns'} ${added.join(', ')} ${added.length === 1 ? 'was' : 'were'} added by hand and would be lost with their contents`,
      isOthers(production)
        ? fittingHint(names, declared, production, true)
        : 'Declare the added columns, drop them, or move them to another table.',
    );
};

/**
 * Foreign keys of an old table to tables that are not swapped with it. They would block deletes
 * there.
 */
const keysOutside = (
  { production: old }: BuiltOver,
  swaps: readonly BuiltOver[],
): readonly TableConstraint[] =>
  (old?.constraints ?? []).filter(
    ({ on }) => on !== null && swaps.every(({ production }) => production?.oid !== on),
  );

/** Drops foreign keys of the old table. A kept version gets them again when it is restored. */
const dropKeys = (swap: BuiltOver, swaps: readonly BuiltOver[]): readonly string[] => {
  const keys = isKept(swap)
    ? swap.production.constraints.filter(({ on }) => on !== null)
    : keysOutside(swap, swaps);
  const drops = keys.map(({ name }) => `drop constraint ${quoteName(name)}`);
  return drops.length === 0 ? [] : [`alter table ${productionName(swap.table)} ${drops.join(', ')};`];
};

// Sequences of identity columns keep their names, and no number is given twice. Before the swap,
// sequences of the new table have temporary names; after it, those of the old table.

const waitingSequence = ({ builtAs }: BuiltOver, index: number): string =>
  `etl_new_${builtAs.oid}_seq_${index}`;
const oldSequence = (oid: number, index: number): string => `etl_old_${oid}_seq_${index}`;

/** Hides the new table's sequences before it is moved: its sequences move with it. */
const hideSequences = (swap: BuiltOver): readonly string[] =>
  swap.builtAs.sequences.map(
    ({ name }, index) =>
      `alter sequence ${quoteName(swap.table.buildSchema, name)} rename to ${quoteName(waitingSequence(swap, index))};`,
  );

/**
 * Continues the numbers of the old table's sequences, and frees their names. Needs a lock on the
 * old table.
 */
const takeOver = (swap: BuiltOver): readonly string[] => {
  const { table, builtAs, production } = swap;
  const old = production?.sequences ?? [];
  return [
    ...builtAs.sequences.flatMap(({ column }, index) => {
      const before = old.find((one) => one.column === column);
      if (before === undefined) return [];
      const name = quoteName(table.schema, waitingSequence(swap, index));
      return [
        `select setval(${quoteText(name)}, last_value, is_called) from (
          select last_value, is_called from ${quoteName(table.schema, before.name)} union all select last_value, is_called from ${name}
          order by 1 desc, 2 desc limit 1) s;`,
      ];
    }),
    ...old.map(
      ({ name }, index) =>
        `alter sequence ${quoteName(table.schema, name)} rename to ${quoteName(oldSequence(production!.oid, index))};`,
    ),
  ];
};

const nameSequences = (swap: BuiltOver): readonly string[] =>
  swap.builtAs.sequences.map(({ column }, index) => {
    const { table, production } = swap;
    const before = production?.sequences.find((one) => one.column === column);
    const name = before?.name ?? fittingName(`${table.table}_${column}_seq`);
    return `alter sequence ${quoteName(table.schema, waitingSequence(swap, index))} rename to ${quoteName(name)};`;
  });

const prepareSwaps = (client: Client, swaps: readonly BuiltOver[]): Promise<unknown> => {
  const heirs = swaps.flatMap(({ builtAs, production }) =>
    production === undefined ? [] : [{ oid: builtAs.oid, oldOid: production.oid }],
  );
  return askTogether(client, () => [
    inherit(client, heirs),
    inheritDefaults(
      client,
      swaps.filter(({ production }) => production === undefined),
    ),
    // All names are freed first, because an index may get a name that another table's index had.
    client.query(
      [
        ...swaps.flatMap(({ table }) => declaredOn(builtName(table), table, 'table')),
        ...swaps.flatMap(freeNames),
        ...swaps.flatMap(hideSequences),
        ...swaps.flatMap(moveIn),
        ...swaps.flatMap(returnNames),
      ].join('\n'),
    ),
    inheritGrants(client, heirs),
  ]);
};

const swapStatements = (client: Client, swaps: readonly BuiltOver[]): readonly string[] => [
  checkUnchanged(client, swaps),
  ...swaps.flatMap((swap) => dropKeys(swap, swaps)),
  ...swaps.flatMap((swap) => {
    const { table } = swap;
    return [
      ...takeOver(swap),
      ...moveAway(swap),
      `alter table ${quoteName(table.schema, waitingName(swap))} rename to ${quoteName(table.table)};`,
      ...nameSequences(swap),
    ];
  }),
];

const noticeOutside = ({ table }: PublishPlan): string | undefined => {
  const outside = foreignKeysOf(table).filter(({ references }) => references.schema !== undefined);
  if (outside.length === 0) return undefined;
  const names = outside.map(({ references: { schema, table: name } }) => `${schema}.${name}`);
  return `${table.schema}.${table.table}: writers of ${[...new Set(names)].join(', ')} wait while its foreign keys are made`;
};

export const swap: Strategy = {
  name: 'swap',
  writes: false,
  takes: ({ partitionBy }, production) =>
    partitionBy === undefined && (production?.dependents.length ?? 0) === 0,
  check: refuseLoss,
  rowsAtLeast: ({ rows }) => rows,
  notice: noticeOutside,

  apply: (client, plans) => {
    const move = () =>
      prepareSwaps(client, plans).catch((cause: unknown) => {
        throw publishRefusalOfAny(plans, cause);
      });
    const touched = plans.flatMap((plan) => keysOutside(plan, plans).map(({ target }) => target!));
    return Promise.resolve({
      move,
      locked: namesInProduction(plans),
      touched,
      last: swapStatements(client, plans),
    });
  },

  oidInProduction: ({ builtAs }) => builtAs.oid,
};
