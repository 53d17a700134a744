// The publication 'swap': puts built tables in the places of production's. Readers feel one message to the server.
//
// The message locks, checks that nothing has changed, swaps and commits, so that no lock that readers feel is ever held
// while the server waits for us: not for a distant client, nor for one that is frozen. Before it the new tables are moved into
// production's schema under other names, so that the message only has to rename them: half the work of moving them. The old
// tables go to the build schema, and are dropped after the commit, or to etl_kept: moving a table takes half as long as dropping it.
// Proved by test/integration/publish-locks.test.ts, "in one message".

import type { Client } from '../db/client.ts';
import { quoteName, quoteText } from '../db/sql.ts';
import { codeOf } from '../errors.ts';
import { buildAside, checkCopied } from './build-table.ts';
import type { BuiltOver, Publication } from './contract.ts';
import type { Catalogues } from './production/extensions.ts';
import { inherit } from './inherit.ts';
import { moveAway, oldIndexName, returnNames, revokeGrants } from './production/keep.ts';
import {
  builtName,
  namesInProduction,
  productionName,
  type BuiltTable,
  type DeclaredTable,
} from './names.ts';
import {
  ProductionChanged,
  readCatalogues,
  selectFingerprints,
  type ProductionTable,
} from './production/production.ts';
import { refusalOfAny } from './refusals.ts';
import { differenceOf, refuseShape } from './shape.ts';
import type { TableColumn } from './production/table-state.ts';

/** Name of the new table while the old one still has its own. */
const waitingName = ({ builtAs }: BuiltOver): string => `etl_new_${builtAs.oid}`;

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

/** Fails when the name is taken: 42P07, or 23505 if its owner had not committed when the statement began. */
const unlessTaken = async (client: Client, sql: string): Promise<void> => {
  await client.query(sql).catch((cause: unknown) => {
    throw ['42P07', '23505'].includes(codeOf(cause) ?? '') ? new ProductionChanged() : cause;
  });
};

/** New tables get the schema's default privileges, copied from an empty table that is dropped again. */
const inheritDefaults = async (client: Client, tables: readonly BuiltTable[]): Promise<void> => {
  if (tables.length === 0) return;
  const probe = productionName(tables[0]!);
  await unlessTaken(client, `create table ${probe} ()`);
  const { oid } = (await client.query('select $1::text::regclass::oid as oid', [probe])).rows[0];
  await inherit(
    client,
    tables.map((table) => ({ name: builtName(table), oldOid: oid, comment: table.comment })),
  );
  await client.query(`drop table ${probe}`);
};

/**
 * Indexes of the old tables make room for the names of the new ones, which takes locks on the indexes that no reader feels.
 * PostgreSQL, "ALTER INDEX", RENAME.
 */
const freeNames = ({ table, production }: BuiltOver): readonly string[] =>
  (production?.indexes ?? []).map(
    ({ name }, place) =>
      `alter index ${quoteName(table.schema, name)} rename to ${quoteName(oldIndexName(production!.oid, place))};`,
  );

/** Moves new tables into production's schema, under other names. */
const moveIn = (swap: BuiltOver): readonly string[] => {
  const { table, production } = swap;
  const waiting = waitingName(swap);
  return [
    `alter table ${builtName(table)} rename to ${quoteName(waiting)};`,
    `alter table ${quoteName(table.buildSchema, waiting)} set schema ${quoteName(table.schema)};`,
    // In production: an owner that is not us may not create in the build schema.
    ...(production?.owner == null
      ? []
      : [`alter table ${quoteName(table.schema, waiting)} owner to ${quoteName(production.owner)};`]),
  ];
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
      production === undefined
        ? []
        : [{ name: builtName(table), oldOid: production.oid, comment: table.comment }],
    ),
  );
  await inheritDefaults(
    client,
    swaps.flatMap(({ table, production }) => (production === undefined ? [table] : [])),
  );
  // All names first: an index of one table may have had the name that another's has now.
  await client.query(
    [...swaps.flatMap(freeNames), ...swaps.flatMap(moveIn), ...swaps.flatMap(returnNames)].join('\n'),
  );
};

/** Raises 40001, "the same transaction again", unless the tables are those of the plan. */
const checkUnchanged = (swaps: readonly BuiltOver[], has: Catalogues): string => {
  const expected = swaps.flatMap(({ production }) => production?.fingerprint ?? []);
  const found = selectFingerprints(
    swaps.map(({ table }) => table),
    has,
  );
  const body = `begin
    if array(select fingerprint from (${found}) found order by place) <> ${quoteText(`{${expected.join(',')}}`)}::text[] then
      raise exception using errcode = '40001', message = 'a table that is to be replaced has changed';
    end if;
  end`;
  return `do ${quoteText(body)};`;
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
  takes: (production) => (production?.dependents.length ?? 0) === 0,
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
    checkCopied(table.table, copied, table.rows);
    return table.rows;
  },

  oidInProduction: ({ builtAs }) => builtAs.oid,
};
