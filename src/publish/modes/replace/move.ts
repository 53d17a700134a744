// Moves built tables into production's schema, beside those whose places they take.

import type { Client } from '../../../db/client.ts';
import { quoteName, quoteText } from '../../../db/sql.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { inheritGrants } from '../../table/grants.ts';
import { builtName, productionName, type TableNames } from '../../../db/names.ts';
import type { Catalogues } from '../../table/extensions.ts';
import { oldIndexName } from './keep.ts';
import { ProductionChanged, selectFingerprints, type ProductionTable } from '../../table/production.ts';
import type { BuiltState } from '../../table/table-state.ts';

/** A built table, or a partition of one, and what has its place. */
export interface Move {
  readonly table: TableNames;
  readonly builtAs: Pick<BuiltState, 'oid'>;
  readonly production: Pick<ProductionTable, 'oid' | 'owner' | 'indexes' | 'fingerprint'> | undefined;
}

/** Name of the new table while the old one still has its own. */
export const waitingName = ({ builtAs }: Move): string => `etl_new_${builtAs.oid}`;

/** Fails when the name is taken: 42P07, or 23505 if its owner had not committed when the statement began. */
const unlessTaken = async (client: Client, sql: string): Promise<void> => {
  await client.query(sql).catch((cause: unknown) => {
    throw ['42P07', '23505'].includes(codeOf(cause) ?? '') ? new ProductionChanged() : cause;
  });
};

/** New tables get the schema's default privileges, copied from an empty table that is dropped again. */
export const inheritDefaults = async (client: Client, moves: readonly Move[]): Promise<void> => {
  if (moves.length === 0) return;
  const probe = productionName(moves[0]!.table);
  await unlessTaken(client, `create table ${probe} ()`);
  const { oid } = (await client.query('select $1::text::regclass::oid as oid', [probe])).rows[0];
  await inheritGrants(
    client,
    moves.map(({ builtAs }) => ({ oid: builtAs.oid, oldOid: oid })),
  );
  await client.query(`drop table ${probe}`);
};

/**
 * Indexes of the old tables make room for the names of the new ones, which takes locks on the indexes that no reader feels.
 * PostgreSQL, "ALTER INDEX", RENAME.
 */
export const freeNames = ({ table, production }: Move): readonly string[] =>
  (production?.indexes ?? []).map(
    ({ name }, place) =>
      `alter index ${quoteName(table.schema, name)} rename to ${quoteName(oldIndexName(production!.oid, place))};`,
  );

/** Moves new tables into production's schema, under other names. */
export const moveIn = (move: Move): readonly string[] => {
  const { table, production } = move;
  const waiting = waitingName(move);
  return [
    `alter table ${builtName(table)} rename to ${quoteName(waiting)};`,
    `alter table ${quoteName(table.buildSchema, waiting)} set schema ${quoteName(table.schema)};`,
    // In production: an owner that is not us may not create in the build schema.
    ...(production?.owner == null
      ? []
      : [`alter table ${quoteName(table.schema, waiting)} owner to ${quoteName(production.owner)};`]),
  ];
};

/** Raises 40001, "the same transaction again", unless the tables are those of the plan. */
export const checkUnchanged = (moves: readonly Move[], has: Catalogues): string => {
  const expected = moves.flatMap(({ production }) => production?.fingerprint ?? []);
  const found = selectFingerprints(
    moves.map(({ table }) => table),
    has,
  );
  const body = `begin
    if array(select fingerprint from (${found}) found order by place) <> ${quoteText(`{${expected.join(',')}}`)}::text[] then
      raise exception using errcode = '40001', message = 'a table that is to be replaced has changed';
    end if;
  end`;
  return `do ${quoteText(body)};`;
};
