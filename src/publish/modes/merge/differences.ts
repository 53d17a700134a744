// Finds the rows that a merge has to write, and writes them.

import { setJoinMemory } from '../../../db/session/session-settings.ts';
import { withPath, withTransaction, type Client } from '../../../db/client.ts';
import { isRefusal } from '../../../db/connect/server-error.ts';
import { quoteName, quoteNames } from '../../../db/sql.ts';
import { formatCount, plural } from '../../../core/wording.ts';
import type { PublishPlan } from '../contract.ts';
import type { BuiltOver, Differences } from '../../table/built-over.ts';
import { doKeySteps, keyChanges, type KeyStep } from '../../alter/keys.ts';
import { inKeyOrderOver, rowsMin } from '../key-order.ts';
import { changingColumns, isDeletion, isDifferent, isOlder, keyOf } from './merge-sql.ts';
import { besideName, productionName } from '../../../db/names.ts';
import { ensurePartitions } from '../../alter/ensure-partitions.ts';
import { rowsWithheld } from '../../refusals.ts';
import { makeReadable } from '../../table/distribution.ts';
import { isOnePiece, ownRows } from '../../table/own-rows.ts';
import { haveSame, writtenColumns } from '../../table/table-state.ts';

/** `older`: a record that is ignored, because the existing row is newer. */
export const kinds = { insert: 'i', update: 'u', remove: 'd', older: 'o' } as const;

/** Extra columns of the table of differences: ctid and xmin of the existing row, and the kind. */
export const atColumn = '_etl_at';
const seenColumn = '_etl_seen';
export const kindColumn = '_etl_kind';

export const diffOf = ({ table }: BuiltOver): string =>
  quoteName(table.buildSchema, besideName(table.table, 'diff'));

export const columnNames = ({ builtAs }: BuiltOver): readonly string[] =>
  writtenColumns(builtAs.columns).map(({ name }) => name);

const identity = (over: BuiltOver): string =>
  isOnePiece(over.production!) ? `o.ctid as ${atColumn}, o.xmin as ${seenColumn},` : '';

/**
 * Creates a table of differences. `kindAndRows`: SQL after the columns. `given`: its common table
 * expressions.
 */
export const createDifferences = async (
  client: Client,
  over: BuiltOver,
  columns: readonly string[],
  kindAndRows: string,
  given = '',
): Promise<void> => {
  const diff = diffOf(over);
  await client.query(`drop table if exists ${diff}`);
  // Autovacuum must not analyze this table: without statistics, the server finds the rows by ctid.
  await client.query(
    `create unlogged table ${diff} with (autovacuum_enabled = false) as
      ${given} select ${columns.join(', ')}, ${identity(over)} ${kindAndRows}`,
  );
  await makeReadable(client, diff, over.production!.distribution);
};

/**
 * Analyzes the keys of the run's rows. If the server knows that they are unique, it hashes these
 * rows instead of production.
 */
export const prepareJoin = async (
  client: Client,
  { table: { rowsFrom }, builtAs }: BuiltOver,
  rows: number,
): Promise<void> => {
  if (rows < rowsMin) return;
  await setJoinMemory(client);
  // If a column cannot be analyzed, the join is only slower.
  await withTransaction(client, () =>
    client.query(`analyze ${rowsFrom} (${quoteNames(keyOf(builtAs).columns)})`),
  ).catch((cause: unknown) => {
    if (!isRefusal(cause)) throw cause;
  });
};

const orderOf = async (client: Client, over: BuiltOver): Promise<string> => {
  const { table, builtAs, production } = over;
  const { rowsFrom, rows, deletions } = table;
  if (rows + deletions < rowsMin || !isOnePiece(production!)) return '';
  const key = keyOf(builtAs);
  return inKeyOrderOver(client, {
    rowsFrom,
    rows: rows + deletions,
    there: ownRows(table, production!),
    key,
  });
};

/**
 * Returns the rows of production that the run may change: the table itself, or a local copy of
 * those with a key of the run if the table is distributed. Citus cannot compare records on its
 * nodes, and joins no distributed table with local rows in every query.
 */
export const rowsThere = async (
  client: Client,
  { table, production }: BuiltOver,
  key: readonly string[],
): Promise<string> => {
  const rows = ownRows(table, production!);
  if (production!.distribution === null) return rows;
  const there = quoteName(table.buildSchema, besideName(table.table, 'there'));
  const list = quoteNames(key);
  await client.query(`drop table if exists ${there}`);
  await client.query(
    `create unlogged table ${there} as select * from ${rows} o where (${list}) in (select ${list} from ${table.rowsFrom} n)`,
  );
  return there;
};

/**
 * Finds differences without writing them, because PostgreSQL runs only such a query in parallel.
 */
export const findDifferences = async (client: Client, over: BuiltOver): Promise<void> => {
  const { table, builtAs } = over;
  const names = columnNames(over);
  const key = keyOf(builtAs);
  const changing = changingColumns(table, names);
  const isThere = `o.${quoteName(key.columns[0]!)} is not null`;
  const [older, deletion, differs] = [
    isOlder(table.mode),
    isDeletion(table.mode, 'n'),
    isDifferent(table, names),
  ];
  const values = names.map((name) => {
    const [n, o] = [`n.${quoteName(name)}`, `o.${quoteName(name)}`];
    return changing.includes(name) ? n : `case when ${isThere} then ${o} else ${n} end as ${quoteName(name)}`;
  });
  await prepareJoin(client, over, table.rows + table.deletions);
  const order = await orderOf(client, over);
  const there = await rowsThere(client, over, key.columns);
  await createDifferences(
    client,
    over,
    values,
    `(case when not ${isThere} then '${kinds.insert}' when ${older} then '${kinds.older}'
          when ${deletion} then '${kinds.remove}' else '${kinds.update}' end)::"char" as ${kindColumn}
      from ${table.rowsFrom} n left join ${there} o on ${haveSame(key, 'n', 'o')}
      where case when ${isThere} then ${older} or ${deletion} or ${differs} else not ${deletion} end ${order}`,
  );
};

export const countDifferences = async (client: Client, over: BuiltOver): Promise<Differences> => {
  const counts = Object.entries(kinds).map(
    ([name, kind]) => `count(*) filter (where ${kindColumn} = '${kind}')::float8 as "${name}"`,
  );
  return (await client.query(`select ${counts.join(', ')} from ${diffOf(over)}`)).rows[0];
};

const counted = new WeakMap<PublishPlan, Promise<Differences>>();

export const differencesOf = (client: Client, plan: PublishPlan): Promise<Differences> => {
  const counts =
    counted.get(plan) ?? (plan.found ? Promise.resolve(plan.found.counts) : countDifferences(client, plan));
  counted.set(plan, counts);
  return counts;
};

/**
 * SQL: true for the compared row. A newer row may have its ctid by now, so xmin is compared, too.
 */
const sameRow = (plan: PublishPlan): string => {
  const key = haveSame(keyOf(plan.builtAs), 'd', 'o');
  return isOnePiece(plan.production!)
    ? `o.ctid = d.${atColumn} and o.xmin = d.${seenColumn} and ${key}`
    : key;
};

const words = { remove: 'deleted', update: 'updated', insert: 'inserted' } as const;

const statementOf: Readonly<Record<keyof typeof words, (plan: PublishPlan) => string>> = {
  remove: (plan) =>
    `delete from ${ownRows(plan.table, plan.production!)} o using ${diffOf(plan)} d
      where d.${kindColumn} = '${kinds.remove}' and ${sameRow(plan)}`,
  update: (plan) => {
    const set = changingColumns(plan.table, columnNames(plan)).map(
      (name) => `${quoteName(name)} = d.${quoteName(name)}`,
    );
    return `update ${ownRows(plan.table, plan.production!)} o set ${set.join(', ')} from ${diffOf(plan)} d
      where d.${kindColumn} = '${kinds.update}' and ${sameRow(plan)}`;
  },
  insert: (plan) => {
    const list = quoteNames(columnNames(plan));
    return `insert into ${productionName(plan.table)} (${list}) overriding system value
      select ${list} from ${diffOf(plan)} d where d.${kindColumn} = '${kinds.insert}' order by ${quoteNames(plan.table.primaryKey)}`;
  },
};

/** Deletes come first: they free values of unique indexes. Errors: ETL_PUBLISH_WITHHELD. */
const writeDifferences = async (client: Client, plan: PublishPlan): Promise<void> => {
  const { table } = plan.table;
  const counts = await differencesOf(client, plan);
  for (const kind of ['remove', 'update', 'insert'] as const) {
    const wanted = counts[kind];
    if (wanted === 0) continue;
    const { rowCount } = await client.query(statementOf[kind](plan));
    if (rowCount === wanted) continue;
    const problem = `${formatCount(rowCount ?? 0)} of ${plural(wanted, 'row')} could be ${words[kind]}`;
    throw rowsWithheld(table, plan.production!, problem);
  }
};

export const writeFound = async (
  client: Client,
  plan: PublishPlan,
  find: (client: Client, plan: PublishPlan) => Promise<void>,
): Promise<readonly KeyStep[]> => {
  const { table } = plan;
  const changes = keyChanges(plan);
  // Row security could hide rows, which would then be inserted twice. With `off`, this is an error.
  await client.query('set local row_security = off');
  await ensurePartitions(client, plan);
  await doKeySteps(client, table, [...changes.drop, ...changes.key]);
  await find(client, plan);
  await withPath(client, table.path, () => writeDifferences(client, plan));
  return changes.make;
};
