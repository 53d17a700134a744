// Puts built tables in the places of production's. What needs no lock is done before; the rest is one message to the server.
//
// The message locks, looks whether anything has changed, swaps and commits, so that no lock that readers feel is ever held
// while the server waits for us: not for a distant client, nor for one that is frozen. The old tables go to the build schema,
// and are dropped after the commit: moving a table takes half as long as dropping it. Proved by
// test/integration/publish-locks.test.ts, "in one message".

import type { Client } from '../db/client.ts';
import { quoteName, quoteText } from '../db/sql.ts';
import { codeOf } from '../errors.ts';
import type { Catalogues } from './extensions.ts';
import { inherit } from './inherit.ts';
import { lockTables } from './locks.ts';
import { builtName, productionName, type BuiltTable } from './names.ts';
import { ProductionChanged, selectFingerprints, type ProductionTable } from './production.ts';

/** A built table, and the one whose place it takes; undefined when it is the first. */
export interface Swap {
  readonly table: BuiltTable;
  readonly production: ProductionTable | undefined;
}

/** Pipelines have no such names: none begins with a digit. */
const movedSchema = (runId: number): string => `etl_build_${runId}`;

/** Where the built table is once it has made room for the old one. */
export const movedName = (runId: number, { table }: BuiltTable): string =>
  quoteName(movedSchema(runId), table);

/** The statement, which fails when somebody has taken the name: 42P07, or 23505 for one who has not committed when it begins. */
const unlessTaken = async (client: Client, sql: string): Promise<void> => {
  await client.query(sql).catch((cause: unknown) => {
    throw ['42P07', '23505'].includes(codeOf(cause) ?? '') ? new ProductionChanged() : cause;
  });
};

/** New tables get the privileges that tables made in that schema are to have: those of an empty one that is dropped again. */
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

/** Gives built tables what the old ones have, and moves them where the old ones are not in their way. */
export const prepareSwaps = async (client: Client, runId: number, swaps: readonly Swap[]): Promise<void> => {
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
  const build = quoteName(swaps[0]!.table.buildSchema);
  await client.query(
    `alter schema ${build} rename to ${quoteName(movedSchema(runId))}; create schema ${build}`,
  );
};

/** Raises 40001, "the same transaction again", unless the tables are those of the plan. */
const checkUnchanged = (swaps: readonly Swap[], has: Catalogues): string => {
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

/**
 * Everything that happens under locks that readers feel, and the commit: `names` are the old tables in the order of their
 * locks. Fails as a whole.
 */
export const swapMessage = (
  runId: number,
  swaps: readonly Swap[],
  { names, queueMs, has }: SwapOptions,
): string =>
  [
    lockTables(names, 'access exclusive', queueMs),
    checkUnchanged(swaps, has),
    ...swaps.flatMap(({ table, production }) => {
      const target = productionName(table);
      const moved = movedName(runId, table);
      return [
        ...(production === undefined
          ? []
          : [`alter table ${target} set schema ${quoteName(table.buildSchema)};`]),
        `alter table ${moved} set schema ${quoteName(table.schema)};`,
        // In production: an owner that is not us may not create in the build schema.
        ...(production?.owner == null
          ? []
          : [`alter table ${target} owner to ${quoteName(production.owner)};`]),
      ];
    }),
    `drop schema ${quoteName(movedSchema(runId))};`,
    'commit',
  ].join('\n');

interface SwapOptions {
  readonly names: readonly string[];
  readonly queueMs: number;
  readonly has: Catalogues;
}
