// The publication 'merge': rows of some files take the place of those with the same primary key, and others come beside them.
//
// What differs is found first, in one pass, and only that is written: a row that is there as it comes costs no log and leaves no
// dead row. Rows that stay are updated, so that triggers, foreign keys and policies see the same row. Readers see all of it at the
// commit, or wait when keys or indexes have to change; writers wait.

import { withPath, type Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { EtlError } from '../../errors.ts';
import { formatCount, plural } from '../../wording.ts';
import { applyEach, beside } from './beside.ts';
import { checkCopied } from '../build-table.ts';
import type { PublishPlan, Publication } from '../contract.ts';
import { changesOf, rowsOf } from '../in-place.ts';
import { doKeySteps, type KeyStep } from '../keys.ts';
import { changingColumns, isDeletion, isDifferent, isOlder, keyOf } from './merge-sql.ts';
import { diffName, productionName, type DeclaredTable } from '../names.ts';
import { dependentsText } from '../production/dependents.ts';
import { ensurePartitions } from '../partitions/ensure.ts';
import { keepsRowsElsewhere } from '../production/extensions.ts';
import type { ProductionTable } from '../production/production.ts';
import { haveSame } from '../production/table-state.ts';
import { refuseShape } from '../shape.ts';

/** What happens to a row, in the table of differences. Older records lose against the row that is there. */
export const kinds = { insert: 'i', update: 'u', remove: 'd', older: 'o' } as const;
type Kind = keyof typeof kinds;

/** Columns of the table of differences, beside those of the rows: the place of the row that is there, and the kind. */
export const atColumn = '_etl_at';
export const kindColumn = '_etl_kind';

export const diffOf = ({ table }: PublishPlan): string => quoteName(table.buildSchema, diffName(table.table));

export const columnNames = ({ builtAs }: PublishPlan): readonly string[] =>
  builtAs.columns.map(({ name }) => name);

/** Only in a table of one piece does the place of a row say which it is. */
export const isOnePiece = ({ production }: PublishPlan): boolean =>
  production!.kind === 'r' && !keepsRowsElsewhere(production!.dependents);

/** Finds what differs. The server may do it in parallel, because nothing of production is written. */
const findDifferences = async (client: Client, plan: PublishPlan): Promise<void> => {
  const { table, builtAs, production } = plan;
  const merge = table.merge!;
  const names = columnNames(plan);
  const key = keyOf(builtAs);
  const isThere = `o.${quoteName(key.columns[0]!)} is not null`;
  const [older, deletion, differs] = [isOlder(merge), isDeletion(merge, 'n'), isDifferent(table, names)];
  const at = isOnePiece(plan) ? `o.ctid as ${atColumn},` : '';
  await client.query(`create unlogged table ${diffOf(plan)} as
    select ${names.map((name) => `n.${quoteName(name)}`).join(', ')}, ${at}
        (case when not ${isThere} then '${kinds.insert}' when ${older} then '${kinds.older}'
          when ${deletion} then '${kinds.remove}' else '${kinds.update}' end)::"char" as ${kindColumn}
      from ${table.rowsFrom} n left join ${rowsOf(table, production!)} o on ${haveSame(key, 'n', 'o')}
      where case when ${isThere} then ${older} or ${deletion} or ${differs} else not ${deletion} end`);
};

export const countKinds = async (
  client: Client,
  plan: PublishPlan,
): Promise<Readonly<Record<Kind, number>>> => {
  const counts = Object.entries(kinds).map(
    ([name, kind]) => `count(*) filter (where ${kindColumn} = '${kind}')::float8 as "${name}"`,
  );
  return (await client.query(`select ${counts.join(', ')} from ${diffOf(plan)}`)).rows[0];
};

/** The row of production that a difference is about. */
const sameRow = (plan: PublishPlan): string =>
  isOnePiece(plan) ? `o.ctid = d.${atColumn}` : haveSame(keyOf(plan.builtAs), 'd', 'o');

const words = { remove: 'deleted', update: 'updated', insert: 'inserted' } as const;

/** The statements, each for the differences of one kind. */
const statementOf: Readonly<Record<keyof typeof words, (plan: PublishPlan) => string>> = {
  remove: (plan) =>
    `delete from ${rowsOf(plan.table, plan.production!)} o using ${diffOf(plan)} d
      where d.${kindColumn} = '${kinds.remove}' and ${sameRow(plan)}`,
  update: (plan) => {
    const set = changingColumns(plan.table, columnNames(plan)).map(
      (name) => `${quoteName(name)} = d.${quoteName(name)}`,
    );
    return `update ${rowsOf(plan.table, plan.production!)} o set ${set.join(', ')} from ${diffOf(plan)} d
      where d.${kindColumn} = '${kinds.update}' and ${sameRow(plan)}`;
  },
  insert: (plan) => {
    const list = quoteNames(columnNames(plan));
    return `insert into ${productionName(plan.table)} (${list}) overriding system value
      select ${list} from ${diffOf(plan)} d where d.${kindColumn} = '${kinds.insert}' order by ${quoteNames(plan.table.primaryKey)}`;
  },
};

/** Writes the differences. Deleted rows go first: their values of unique indexes may come back. Errors: ETL_INCOMPLETE. */
const writeDifferences = async (client: Client, plan: PublishPlan): Promise<void> => {
  const { table } = plan.table;
  const counts = await countKinds(client, plan);
  for (const kind of ['remove', 'update', 'insert'] as const) {
    const wanted = counts[kind];
    if (wanted === 0) continue;
    const { rowCount } = await client.query(statementOf[kind](plan));
    if (rowCount === wanted) continue;
    const problem = `${plural(wanted, 'row')} were to be ${words[kind]}, and ${formatCount(rowCount ?? 0)} were (a trigger or rule?)`;
    throw new EtlError('ETL_INCOMPLETE', { table, problem });
  }
};

/**
 * Writes what `find` puts into the table of differences, and returns the indexes that have yet to be made. Old rows are found by the
 * key, so they must have it, too.
 */
export const writeFound = async (
  client: Client,
  plan: PublishPlan,
  find: (client: Client, plan: PublishPlan) => Promise<void>,
): Promise<readonly KeyStep[]> => {
  const { table } = plan;
  const changes = changesOf(plan);
  // A policy that hides rows from us is an error; otherwise they would be inserted again.
  await client.query('set local row_security = off');
  await ensurePartitions(client, plan);
  await doKeySteps(client, table, [...changes.drop, ...changes.key]);
  await find(client, plan);
  await withPath(client, table.path, () => writeDifferences(client, plan));
  return changes.make;
};

/** Rows are found by the declared key, so production must have it, or be given it. */
const refuseOtherKey = (table: DeclaredTable, { dependents, indexes }: ProductionTable): void => {
  if (dependents.every(({ kind }) => kind !== 'primary key')) return;
  const key = indexes.find(({ isPrimary }) => isPrimary)?.columns ?? [];
  if (key.join('\0') === table.primaryKey.join('\0')) return;
  refuseShape(
    table.table,
    `rows cannot be merged into ${table.schema}.${table.table}: its primary key is (${key.join(', ')}), and ${dependentsText(dependents)} depends on it`,
    'Declare that key, or drop what depends on it.',
  );
};

export const merge: Publication = {
  ...beside,
  name: 'merge',

  check: (table, declared, production) => {
    beside.check(table, declared, production);
    refuseOtherKey(table, production);
  },

  /** Rows that come are there afterwards, or newer ones with their keys. */
  rowsAtLeast: ({ rows, deletions }, before) => Math.max((before ?? 0) - deletions, rows),

  apply: (client, plans) => applyEach(client, plans, (_, plan) => writeFound(client, plan, findDifferences)),

  changes: async (client, plan) => {
    const { rows, deletions, staged } = plan.table;
    const { insert, update, remove, older } = await countKinds(client, plan);
    return {
      inserted: insert,
      updated: update,
      deleted: remove,
      unchanged: rows + deletions - insert - update - remove - older,
      superseded: staged - rows - deletions + older,
    };
  },

  /** `apply` has compared the rows that the server took with those that there are. */
  verify: async (client, plan, copied, before) => {
    const { table } = plan;
    checkCopied(table.table, copied, table.staged);
    const { insert, remove } = await countKinds(client, plan);
    return (before ?? 0) + insert - remove;
  },
};
