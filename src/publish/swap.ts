// The publication 'swap': puts built tables in the places of production's. Readers feel one message to the server.
//
// The message locks, checks that nothing has changed, swaps and commits, so that no lock that readers feel is ever held
// while the server waits for us: not for a distant client, nor for one that is frozen. Before it the new tables are moved into
// production's schema under other names, so that the message only has to rename them: half the work of moving them. The old
// tables go to the build schema, and are dropped after the commit, or to etl_kept: moving a table takes half as long as dropping it.
// Proved by test/integration/publish-locks.test.ts, "in one message".

import type { Client } from '../db/client.ts';
import { quoteName } from '../db/sql.ts';
import { declaredOn } from './attributes/attributes.ts';
import { buildAside, checkCopied } from './build-table.ts';
import type { BuiltOver, Publication } from './contract.ts';
import type { Catalogues } from './production/extensions.ts';
import { inherit } from './inherit.ts';
import { moveAway, returnNames, revokeGrants } from './production/keep.ts';
import { checkUnchanged, freeNames, inheritDefaults, moveIn, waitingName } from './production/move.ts';
import { builtName, namesInProduction, type DeclaredTable } from './names.ts';
import { readCatalogues, type ProductionTable } from './production/production.ts';
import { refusalOfAny } from './refusals.ts';
import { differenceOf, refuseShape } from './shape.ts';
import type { TableColumn } from './production/table-state.ts';

/** Columns that are not declared, and that the publishing run did not make. */
const addedByHand = (declared: readonly TableColumn[], { columns, published }: ProductionTable): string[] => {
  const known = new Set([...declared.map(({ name }) => name), ...(published?.columns ?? [])]);
  return columns.map(({ name }) => name).filter((name) => !known.has(name));
};

/**
 * Refuses to take away what no run has made: the table itself, or columns of it. Proved by
 * test/integration/publish-protects.test.ts.
 */
const refuseLoss = (
  { schema, table }: DeclaredTable,
  declared: readonly TableColumn[],
  production: ProductionTable,
): void => {
  const difference = differenceOf(declared, production.columns);
  if (difference === '') return;
  if (production.published === undefined)
    refuseShape(
      table,
      `no run has published ${schema}.${table}, and its columns differ from the declaration: ${difference}`,
      'Rename or drop it, or declare its columns.',
    );
  // Recorded since 0007; before that nobody can tell.
  const added = production.published?.columns == null ? [] : addedByHand(declared, production);
  if (added.length > 0)
    refuseShape(
      table,
      `${added.length === 1 ? 'column' : 'columns'} ${added.join(', ')} ${added.length === 1 ? 'was' : 'were'} added by hand and would be lost with their contents`,
      'Declare the added columns, drop them, or move them to another table.',
    );
};

/** Gives built tables the properties of the old ones, and moves them beside those. */
const prepareSwaps = async (client: Client, swaps: readonly BuiltOver[]): Promise<void> => {
  await revokeGrants(
    client,
    swaps.map(({ table }) => table),
  );
  await inherit(
    client,
    swaps.flatMap(({ table, production }) =>
      production === undefined ? [] : [{ name: builtName(table), oldOid: production.oid }],
    ),
  );
  await inheritDefaults(
    client,
    swaps.flatMap(({ table, production }) => (production === undefined ? [table] : [])),
  );
  // All names first: an index of one table may have had the name that another's has now.
  await client.query(
    [
      ...swaps.flatMap(({ table }) => declaredOn(builtName(table), table, 'table')),
      ...swaps.flatMap(freeNames),
      ...swaps.flatMap(moveIn),
      ...swaps.flatMap(returnNames),
    ].join('\n'),
  );
};

/** Statements under locks that readers feel. */
const swapStatements = (swaps: readonly BuiltOver[], has: Catalogues): readonly string[] => [
  checkUnchanged(swaps, has),
  ...swaps.flatMap((swap) => {
    const { table } = swap;
    return [
      ...moveAway(swap),
      `alter table ${quoteName(table.schema, waitingName(swap))} rename to ${quoteName(table.table)};`,
    ];
  }),
];

export const swap: Publication = {
  name: 'swap',
  writes: false,
  summary: undefined,
  takes: ({ partitionBy }, production) =>
    partitionBy === undefined && (production?.dependents.length ?? 0) === 0,
  check: refuseLoss,
  build: buildAside,
  rowsAtLeast: ({ rows }) => rows,
  blocksReaders: () => false,
  notice: () => undefined,

  apply: async (client, plans) => {
    await prepareSwaps(client, plans).catch((cause: unknown) => {
      throw refusalOfAny(plans, cause);
    });
    const has = await readCatalogues(client);
    return { locked: namesInProduction(plans), last: swapStatements(plans, has) };
  },

  verify: async (_, { table }, copied) => {
    checkCopied(table.table, copied, table.staged);
    return table.rows;
  },

  oidInProduction: ({ builtAs }) => builtAs.oid,
};
