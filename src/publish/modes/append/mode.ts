// Implements the mode 'append'.

import { fileColumn, productionName } from '../../../db/names.ts';
import { buildDeclared } from '../../aside/build-table.ts';
import { seeExchanged, writeEach, beside } from '../beside.ts';
import type { Mode, PublishPlan, Strategy } from '../contract.ts';
import { fillAll } from '../fill-all.ts';
import { withPath, type Client } from '../../../db/client.ts';
import { quoteName, quoteNames } from '../../../db/sql.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { formatCount, plural } from '../../../core/wording.ts';
import { DuplicateRows, findDuplicates } from '../../table/duplicates.ts';
import { inKeyOrder } from '../key-order.ts';
import { doKeySteps, keyChanges, type KeyStep } from '../../alter/keys.ts';
import { selectTaken, takenTypes } from '../../alter/taken-types.ts';
import { writtenColumns } from '../../table/table-state.ts';
import { ensurePartitions } from '../../alter/ensure-partitions.ts';
import { rowsWithheld } from '../../refusals.ts';

// Inserts rows of new files and deletes rows of removed files. Readers see everything after the
// commit, or wait if keys or indexes change. Writers wait.

const deleteOutgoing = async (client: Client, { table }: PublishPlan): Promise<void> => {
  const { files } = table.outgoing;
  if (files.length === 0) return;
  await client.query(
    `delete from ${productionName(table)} where ${quoteName(fileColumn)} = any ($1::bigint[])`,
    [files],
  );
};

const insertRows = async (client: Client, { table, builtAs, production }: PublishPlan): Promise<number> => {
  const names = writtenColumns(builtAs.columns).map(({ name }) => name);
  const list = quoteNames(names);
  const target = productionName(table);
  const order = await inKeyOrder(client, table.rowsFrom, table.rows, table.primaryKey);
  const values = selectTaken(names, takenTypes(builtAs.columns, production!.columns));
  const insert = `insert into ${target} as o (${list}) overriding system value select ${values} from ${table.rowsFrom} ${order}`;
  const { files } = table.outgoing;
  if (!production!.isReferenced || files.length === 0 || table.primaryKey.length === 0)
    return (await client.query(insert)).rowCount ?? 0;
  const set = names.map((name) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(', ');
  // Without parameters, which Citus loses on the way to its nodes.
  const upsert = `${insert} on conflict (${quoteNames(table.primaryKey)}) do update set ${set}
    where o.${quoteName(fileColumn)} = any ('{${files.join(',')}}'::bigint[])`;
  return (await client.query(upsert)).rowCount ?? 0;
};

/**
 * Exchanges rows. If other tables reference them, inserts first, so that rows with the same key are
 * updated instead of deleted.
 */
const exchangeRows = async (client: Client, plan: PublishPlan): Promise<number> => {
  if (!plan.production!.isReferenced) {
    await deleteOutgoing(client, plan);
    return insertRows(client, plan);
  }
  const inserted = await insertRows(client, plan);
  await deleteOutgoing(client, plan);
  return inserted;
};

const duplicatesOf = async (
  client: Client,
  plan: PublishPlan,
  cause: unknown,
): Promise<DuplicateRows | undefined> => {
  await client.query('rollback to savepoint rows');
  await deleteOutgoing(client, plan);
  return findDuplicates(client, plan, cause);
};

const exchangeAll = async (client: Client, plan: PublishPlan): Promise<void> => {
  const { path, table, rows } = plan.table;
  await client.query('savepoint rows');
  let inserted = 0;
  await withPath(client, path, async () => {
    inserted = await exchangeRows(client, plan);
  }).catch(async (cause: unknown) => {
    // 21000: two of the new rows have the same key.
    if (!['23505', '21000'].includes(codeOf(cause) ?? '')) throw cause;
    throw (await duplicatesOf(client, plan, cause)) ?? cause;
  });
  if (inserted === rows) return;
  const problem = `${formatCount(inserted)} of ${plural(rows, 'row')} could be appended`;
  throw (await duplicatesOf(client, plan, undefined)) ?? rowsWithheld(table, plan.production!, problem);
};

const appendRows = async (client: Client, plan: PublishPlan): Promise<readonly KeyStep[]> => {
  const { table } = plan;
  const changes = keyChanges(plan);
  // Row security could hide rows of removed files, which would remain. With `off`, this is an
  // error.
  await client.query('set local row_security = off');
  await ensurePartitions(client, plan);
  await doKeySteps(client, table, changes.drop);
  await exchangeAll(client, plan);
  return [...changes.key, ...changes.make];
};

const strategy: Strategy = {
  ...beside,
  name: 'append',

  needs: ({ table: { outgoing, primaryKey }, production }) => {
    if (outgoing.files.length === 0) return ['insert'];
    const isUpserted = production!.isReferenced && primaryKey.length > 0;
    return ['select', 'insert', 'delete', ...(isUpserted ? (['update'] as const) : [])];
  },

  rowsAtLeast: ({ rows, leaving }, before) => (before ?? 0) - leaving + rows,
  apply: (client, plans) => writeEach(client, plans, appendRows),
};

export const append: Mode = {
  part: {
    strategies: [strategy],
    complete: buildDeclared,
    see: ({ outgoing: { files }, rowsFrom }, _, names, production) => {
      const isLeaving = `${quoteName(fileColumn)} = any ('{${files.join(',')}}'::bigint[])`;
      const come = `select ${quoteNames(names)} from ${rowsFrom}`;
      return seeExchanged(names, production, come, files.length === 0 ? 'false' : isLeaving);
    },
  },
  fillTable: fillAll,
};
