// Moves built tables into production's schema, under temporary names beside the old tables.

import type { Client } from '../../../db/client.ts';
import { askTogether } from '../../../db/ask-together.ts';
import { quoteName, quoteText } from '../../../db/sql.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { inheritGrants } from '../../table/grants.ts';
import { builtName, productionName, type TableNames } from '../../../db/names.ts';
import { oldIndexName } from './keep.ts';
import { selectFingerprints } from '../../table/dependents.ts';
import { ProductionChanged, foundCatalogues, type ProductionTable } from '../../table/production.ts';
import type { BuiltState } from '../../table/table-state.ts';

export interface Move {
  readonly table: TableNames;
  readonly builtAs: Pick<BuiltState, 'oid'>;
  readonly production: Pick<ProductionTable, 'oid' | 'owner' | 'indexes' | 'fingerprint'> | undefined;
}

export const waitingName = ({ builtAs }: Move): string => `etl_new_${builtAs.oid}`;

/**
 * Plans again if a name was taken meanwhile: 42P07, or 23505 by a transaction that was still open.
 */
const unlessTaken = async (client: Client, sql: string): Promise<void> => {
  await client.query(sql).catch((cause: unknown) => {
    throw ['42P07', '23505'].includes(codeOf(cause) ?? '') ? new ProductionChanged() : cause;
  });
};

export const inheritDefaults = async (client: Client, moves: readonly Move[]): Promise<void> => {
  if (moves.length === 0) return;
  const probe = productionName(moves[0]!.table);
  await askTogether(client, () => [
    unlessTaken(client, `create table ${probe} ()`),
    inheritGrants(
      client,
      moves.map(({ builtAs }) => ({ oid: builtAs.oid, oldOid: probe })),
    ),
    client.query(`drop table ${probe}`),
  ]);
};

/** Renames the old indexes, for which readers do not wait: PostgreSQL, "ALTER INDEX". */
export const freeNames = ({ table, production }: Move): readonly string[] =>
  (production?.indexes ?? []).map(
    ({ name }, index) =>
      `alter index ${quoteName(table.schema, name)} rename to ${quoteName(oldIndexName(production!.oid, index))};`,
  );

export const moveIn = (move: Move): readonly string[] => {
  const { table, production } = move;
  const waiting = waitingName(move);
  return [
    `alter table ${builtName(table)} rename to ${quoteName(waiting)};`,
    `alter table ${quoteName(table.buildSchema, waiting)} set schema ${quoteName(table.schema)};`,
    // The owner is set after the move, because it may have no privilege to create in the build
    // schema.
    ...(production?.owner == null
      ? []
      : [`alter table ${quoteName(table.schema, waiting)} owner to ${quoteName(production.owner)};`]),
  ];
};

/** SQL that raises 40001 ("try the transaction again") if a table differs from the plan. */
export const checkUnchanged = (client: Client, moves: readonly Move[]): string => {
  const expected = moves.flatMap(({ production }) => production?.fingerprint ?? []);
  const found = selectFingerprints(
    moves.map(({ table }) => table),
    foundCatalogues(client),
  );
  const body = `begin
    if array(select fingerprint from (${found}) found order by place) <> ${quoteText(`{${expected.join(',')}}`)}::text[] then
      raise exception using errcode = '40001', message = 'a table that is to be replaced has changed';
    end if;
  end`;
  return `do ${quoteText(body)};`;
};
