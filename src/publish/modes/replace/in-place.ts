// The strategy 'in place': replaces all rows of a table that dependents prevent from being swapped.
// Readers see the old rows until the commit, or wait if keys or indexes change. Writers wait.

import { withPath, type Client } from '../../../db/client.ts';
import { countRows } from '../../../db/rows.ts';
import { quoteName, quoteNames } from '../../../db/sql.ts';
import { EtlError, codeOf, messageOf } from '../../../core/errors/errors.ts';
import { formatCount, plural } from '../../../core/wording.ts';
import { beside, writeEach } from '../beside.ts';
import type { PublishPlan, Strategy } from '../contract.ts';
import { inPlaceReasons } from '../../table/partition-shape.ts';
import { ownRows } from '../../table/own-rows.ts';
import { dependText, dependentsText, isForReaders, rowsWritten } from '../../table/dependents.ts';
import { refuseUnfit } from '../../alter/evolve.ts';
import { copyAway, isKept } from './keep.ts';
import { doKeySteps, dropIndex, keyChanges, makeIndex, type KeyStep } from '../../alter/keys.ts';
import { selectTaken, takenTypes } from '../../alter/taken-types.ts';
import { builtName, productionName } from '../../../db/names.ts';
import { rowsWith, type BuiltTable } from '../../table/tables.ts';
import { productionTables, type ProductionTable } from '../../table/production.ts';
import { ensurePartitions } from '../../alter/ensure-partitions.ts';
import { publishRefusal, rowsWithheld } from '../../refusals.ts';
import { fittingHint, isOthers } from '../../table/fitting.ts';
import { differenceOf, movingAway, refuseShape } from '../../table/shape.ts';
import { haveSame, writtenColumns, type TableIndex } from '../../table/table-state.ts';

const replacedOf = ({ touched }: BuiltTable): string => touched?.where ?? 'true';

/** Finds unique indexes in which a new row takes a value of another row that is kept. */
const tradedIndexes = async (
  client: Client,
  table: BuiltTable,
  production: ProductionTable,
  key: TableIndex,
): Promise<readonly TableIndex[]> => {
  const { primaryKey } = table;
  const traded: TableIndex[] = [];
  for (const index of production.indexes) {
    const { isUnique, isPrimary, isImmediate, hasExpressions, columns } = index;
    if (!isUnique || isPrimary || !isImmediate || hasExpressions) continue;
    // Two rows never have the same values in an index that contains the primary key.
    if (primaryKey.every((column) => columns.includes(column))) continue;
    const { rows } = await client.query(
      `select exists (select from ${builtName(table)} n join ${ownRows(table, production)} o on ${haveSame(index, 'n', 'o')}
        where not (${haveSame(key, 'n', 'o')})
          and exists (select from ${builtName(table)} k where ${haveSame(key, 'k', 'o')})) as traded`,
    );
    if (rows[0].traded) traded.push(index);
  }
  return traded;
};

/** Throws. Only the person who made a constraint should drop it. */
const refuseConstraint = (
  { table }: BuiltTable,
  production: ProductionTable,
  { constraint, columns }: TableIndex,
): never => {
  const problem = `rows exchange values of constraint ${constraint}, but must be replaced by key because of ${dependentsText(production.dependents)}`;
  const names = columns.map((column) => `'${column}'`);
  const list = names.length === 1 ? names[0] : `[${names.join(', ')}]`;
  const hint = isOthers(production)
    ? 'Give these rows other values in a run before.'
    : `Drop constraint ${constraint} and declare index(${list}, { unique: true }) instead.`;
  throw new EtlError('ETL_PUBLISH_REFUSED', { table, sqlstate: '23505', problem, hint });
};

/** Updates rows whose key stays, so that references stay valid. Returns indexes to create later. */
const replaceByKey = async (
  client: Client,
  table: BuiltTable,
  production: ProductionTable,
  columns: readonly string[],
  values: string,
): Promise<readonly KeyStep[]> => {
  const { primaryKey } = table;
  const dependents = dependentsText(production.dependents);
  if (primaryKey.length === 0) throw new EtlError('ETL_PUBLISH_NO_KEY', { table: table.table, dependents });
  // Read again, because indexes that are no longer declared were dropped.
  const [now] = await productionTables(client, [table]);
  const key = now!.indexes.find(({ isPrimary }) => isPrimary)!;
  const traded = await tradedIndexes(client, table, now!, key);
  for (const index of traded) if (index.constraint !== null) refuseConstraint(table, production, index);
  await doKeySteps(
    client,
    table,
    traded.map((index) => dropIndex(table, index)),
  );
  const [target, built] = [productionName(table), builtName(table)];
  const others = columns.filter((column) => !primaryKey.includes(column));
  const list = quoteNames(columns);
  const update =
    others.length === 0
      ? 'nothing'
      : `update set ${others.map((name) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(', ')}`;
  await withPath(client, table.path, async () => {
    await client.query(
      `delete from ${ownRows(table, production)} o where (${replacedOf(table)}) and not exists (select from ${built} n where ${haveSame(key, 'n', 'o')})`,
    );
    await client.query(
      `insert into ${target} (${list}) overriding system value select ${values} from ${built} on conflict (${quoteNames(primaryKey)}) do ${update}`,
    );
  });
  return traded.flatMap((index) => makeIndex(table, index, index));
};

/** Returns the error to report. 0A000: this kind of table (Citus) refuses the statement. */
const refused = ({ table: names, production }: PublishPlan, cause: unknown): unknown => {
  const { schema, table } = names;
  if (codeOf(cause) !== '0A000') return publishRefusal(table, cause);
  const problem = `rows of ${schema}.${table} cannot be replaced in place: ${messageOf(cause)}`;
  const away = isOthers(production!) ? '' : ` Or ${movingAway(names, production!)}.`;
  const hint = `It has to remain the same table because of ${dependentsText(production!.dependents)}.${away}`;
  return new EtlError('ETL_PUBLISH_REFUSED', { table, sqlstate: '0A000', problem, hint }, { cause });
};

const replaceRows = async (client: Client, plan: PublishPlan): Promise<readonly KeyStep[]> => {
  const { table, builtAs } = plan;
  const production = plan.production!;
  const [target, built] = [productionName(table), builtName(table)];
  const changes = keyChanges(plan);
  // Row security could hide rows, which would remain. With `off`, this is an error.
  await client.query('set local row_security = off');
  await copyAway(client, plan, ownRows(table, production));
  await ensurePartitions(client, plan);
  const names = writtenColumns(builtAs.columns).map(({ name }) => name);
  const list = quoteNames(names);
  const values = selectTaken(names, takenTypes(builtAs.columns, production.columns));
  const left: KeyStep[] = [];
  if (production.isReferenced) {
    // The key is needed to find old rows, so it is changed first.
    await doKeySteps(client, table, [...changes.drop, ...changes.key]);
    left.push(...(await replaceByKey(client, table, production, names, values)));
  } else {
    // A replicated table cannot delete rows without a key, so the key is dropped after them.
    await withPath(client, table.path, () =>
      client.query(`delete from ${ownRows(table, production)} where ${replacedOf(table)}`),
    );
    await doKeySteps(client, table, changes.drop);
    await withPath(client, table.path, () =>
      client.query(`insert into ${target} (${list}) overriding system value select ${values} from ${built}`),
    );
    left.push(...changes.key);
  }
  // Frees the names of the built table and its indexes. `cascade` drops foreign keys of other built
  // tables to it.
  await client.query(`drop table ${built} cascade`);
  return [...left, ...changes.make];
};

export const inPlace: Strategy = {
  ...beside,
  name: 'in place',
  summary: 'Rows were replaced in place',

  check: (whole, declared, production) => {
    if (whole.evolve !== 'refuse') return refuseUnfit(whole, declared, production);
    const { columns, dependents } = production;
    const difference = differenceOf(declared, columns);
    if (difference !== '')
      refuseShape(
        whole.table,
        `${dependText(dependents)} on it, and its columns differ from the declaration: ${difference}`,
        isOthers(production)
          ? fittingHint(whole, declared, production, true)
          : 'Drop what depends on it, run, and create it again; or keep the columns as they are.',
      );
  },

  needs: ({ production }) => [
    'select',
    'insert',
    'delete',
    ...(production!.isReferenced ? (['update'] as const) : []),
  ],

  rowsAtLeast: rowsWith,

  notice: (plan) => {
    const { schema, table } = plan.table;
    const { texts } = keyChanges(plan);
    // Ordinary reasons are not reported: every run would repeat what nobody can change.
    const isOrdinary = plan.stays?.kind === rowsWritten && plan.production!.dependents.every(isForReaders);
    if (isOrdinary && texts.length === 0) return undefined;
    const readers =
      texts.length === 0
        ? 'readers see the old rows until the commit, writers wait'
        : `writers wait, and readers may also wait: ${texts.join(', ')}`;
    const kept = isKept(plan) ? '; the old rows are copied into the kept version first' : '';
    return (
      `${schema}.${table}: rows are replaced in place because of ${inPlaceReasons(plan.table, plan.production!)}; ` +
      `${readers}, and the table needs a vacuum afterwards${kept}`
    );
  },

  apply: (client, plans) => writeEach(client, plans, replaceRows, refused),

  /** Fails if a trigger or rule prevented deletes or inserts: the transaction must not commit. */
  verify: async (client, { table, production }, before) => {
    const found = await countRows(client, `${ownRows(table, production!)} where ${replacedOf(table)}`);
    if (found === table.rows) return rowsWith(table, before);
    const problem = `its rows were replaced by ${plural(table.rows, 'row')}, but it holds ${formatCount(found)}`;
    throw rowsWithheld(table.table, production!, problem);
  },
};
