// Builds the new version of a table in the build schema: rows, not null, keys, indexes, statistics.

import type { IndexSpec } from '../../core/declaration.ts';
import { askPrepared, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { quoteName, quoteNames, type Query } from '../../db/sql.ts';
import { hintOf, isRefusal } from '../../db/connect/server-error.ts';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { addServerColumns, columnText, serverColumnsOf } from '../table/server-columns.ts';
import { createAs, indexStorage, type IndexStorage } from '../table/storage.ts';
import { buildConstraints, onPath } from '../table/constraints.ts';
import type { Building } from './building.ts';
import { inheritCollations } from './inherit.ts';
import { RowsRefused } from '../table/refused-rows.ts';
import { builtName, productionName, type TableNames } from '../../db/names.ts';
import { isIndexByHand } from '../table/by-hand.ts';
import { primaryKeysOf } from '../table/table-state.ts';
import { completeStatistics } from './complete-statistics.ts';

/** Creates an empty table, if rows are copied from staging directly into production. */
export const createShape = (names: TableNames, columns: readonly string[], staging: string): Query => ({
  text: `${createAs(names)} select ${quoteNames(columns)} from ${staging} with no data`,
});

/**
 * Makes an author's query a subquery, so it must be one query that changes nothing: no `with x as
 * (delete …)`, no second statement (test/integration/sql-files.test.ts). `limit 0` checks
 * privileges without reading rows.
 */
export const aroundSql = (beginning: string, isEmpty: boolean): readonly [string, string] => [
  `${beginning} select * from (\n`,
  `\n) as made${isEmpty ? ' limit 0' : ''}`,
];

export const setNotNull = (names: TableNames, columns: readonly string[]): Query => ({
  text: `alter table ${builtName(names)} ${columns
    .map((column) => `alter column ${quoteName(column)} set not null`)
    .join(', ')}`,
});

/**
 * Creates the primary key. If production's has the same columns, copies its name, included columns,
 * storage and deferrability. Proved by test/modes/by-hand.test.ts.
 */
const addPrimaryKey = async (
  client: Client,
  names: TableNames,
  columns: readonly string[],
  whole: TableNames | undefined,
): Promise<Query> => {
  const tables = whole === undefined ? [names] : [names, whole];
  const [own, ofWhole] = await primaryKeysOf(client, tables.map(productionName), columns);
  const name = own?.name ?? `${names.table}_pkey`;
  const clause = own?.clause ?? ofWhole?.clause ?? `primary key (${quoteNames(columns)})`;
  return { text: `alter table ${builtName(names)} add constraint ${quoteName(name)} ${clause}` };
};

const createIndex = (names: TableNames, index: IndexSpec, storage: IndexStorage): Query => {
  const parts = [
    `create ${index.unique ? 'unique ' : ''}index ${quoteName(index.name)}`,
    `on ${builtName(names)} using ${index.using} (${quoteNames(index.columns)})`,
    index.include.length === 0 ? '' : `include (${quoteNames(index.include)})`,
    storage(index.name, index.using),
  ];
  if (index.where === undefined) return { text: parts.join('\n') };
  return onPath(names.path, `${parts.join('\n')}\nwhere ${index.where}`);
};

interface OwnIndex {
  readonly name: string;
  /** How its name begins in `ddl`. */
  readonly named: string;
  readonly ddl: string;
}

const selectOwnIndexes = (
  client: Client,
  names: TableNames,
  declared: readonly string[],
  on: TableNames = names,
) =>
  askPrepared<OwnIndex>(
    client,
    `select x.relname as name, format(' INDEX %I ON ', x.relname) as named, replace(
        replace(pg_get_indexdef(x.oid), format(' ON ONLY %I.%I USING ', n.nspname, t.relname), $4),
        format(' ON %I.%I USING ', n.nspname, t.relname), $4) as ddl
    from pg_index i
    join pg_class x on x.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid
    join pg_namespace n on n.oid = t.relnamespace
    where n.nspname = $1 and t.relname = $2 and x.relname <> all ($3) and ${isIndexByHand}`,
    [names.schema, names.table, declared, ` ON ${builtName(on)} USING `],
  );

const buildIndex = async (
  client: Client,
  names: TableNames,
  { text }: Query,
  what: string,
  columns?: readonly string[],
): Promise<void> => {
  try {
    await client.query(text);
  } catch (cause) {
    if (columns !== undefined && codeOf(cause) === '23505')
      throw new RowsRefused({ table: names.table, what, rule: { kind: 'unique', columns } }, { cause });
    throw buildError(names, what, cause);
  }
};

export const makeServerColumns = async (client: Client, names: TableNames): Promise<void> => {
  await addServerColumns(client, names).catch((cause: unknown) => {
    const columns = serverColumnsOf(names.attributes).map(columnText);
    throw buildError(names, columns.join(', '), cause);
  });
};

/** What keys and indexes take from production: storage, and the clause of the key. */
interface Likeness {
  readonly storage: IndexStorage;
  readonly key: Query | undefined;
}

type Declared = Pick<Building, 'client' | 'names' | 'primaryKey' | 'indexes'> & Partial<Building>;

const likenessOf = async ({ client, names, primaryKey, whole }: Declared): Promise<Likeness> => {
  const [storage, key] = await askTogether(client, () => [
    indexStorage(client, names),
    primaryKey.length > 0
      ? addPrimaryKey(client, names, primaryKey, whole)
      : Promise.resolve<undefined>(undefined),
  ]);
  return { storage, key };
};

const buildLike = async (
  { client, names, primaryKey, indexes, constraints = [] }: Declared,
  { storage, key }: Likeness,
  own: readonly OwnIndex[] = [],
): Promise<void> => {
  await makeServerColumns(client, names);
  await askTogether(client, () => [
    ...(key === undefined
      ? []
      : [buildIndex(client, names, key, `primary key (${primaryKey.join(', ')})`, primaryKey)]),
    buildConstraints(client, names, constraints, storage),
    ...indexes.map((index) => {
      const { name, where, columns } = index;
      const known = where === undefined ? columns : undefined;
      return buildIndex(client, names, createIndex(names, index, storage), `index ${name}`, known);
    }),
    ...own.map(({ name, ddl }) =>
      buildIndex(client, names, { text: ddl }, `index ${name} (made by hand on ${productionName(names)})`),
    ),
  ]);
};

/**
 * Builds keys, indexes and constraints, in a transaction: otherwise the server would go on after
 * the first that fails. Errors: RowsRefused, ETL_CONSTRAINT_REFUSED, those of
 * `buildIndex`.
 */
export const buildDeclared = async (work: Declared): Promise<() => Promise<void>> => {
  const likeness = await likenessOf(work);
  return () => buildLike(work, likeness);
};

/**
 * Builds what `buildDeclared` builds, with production's collations, and the indexes made by hand,
 * whose names are returned.
 */
export const buildAsProduction = async (work: Declared): Promise<() => Promise<readonly string[]>> => {
  const { client, names, indexes } = work;
  const declared = indexes.map(({ name }) => name);
  const [{ rows: own }, likeness] = await askTogether(client, () => [
    selectOwnIndexes(client, names, declared),
    likenessOf(work),
  ]);
  return async () => {
    await askTogether(client, () => [
      // Before indexes, which would be built twice.
      inheritCollations(client, names),
      buildLike(work, likeness, own),
    ]);
    return own.map(({ name }) => name);
  };
};

export const buildOwnOf = async (
  client: Client,
  whole: TableNames,
  indexes: readonly IndexSpec[],
  part: TableNames,
): Promise<void> => {
  const declared = indexes.map(({ name }) => name);
  const { rows } = await selectOwnIndexes(client, whole, declared, part);
  await askTogether(client, () =>
    rows.map(({ name, named, ddl }) =>
      buildIndex(client, whole, { text: ddl.replace(named, ' INDEX ON ') }, `index ${name} (made by hand)`),
    ),
  );
};

export const buildAside = async (work: Building): Promise<() => Promise<void>> => {
  const { client, names, statistics, making, announce } = work;
  const build = await buildAsProduction(work);
  return async () => {
    const own = await making('indexes', build);
    if (work.isRehearsal === true) return;
    if (own.length > 0) announce(`${names.table}: kept indexes made by hand: ${own.join(', ')}`);
    await making('statistics', () => completeStatistics(client, names, statistics, announce)).catch(
      (cause: unknown) => {
        throw buildError(names, 'statistics', cause);
      },
    );
  };
};

/**
 * Fails if staging does not have all copied rows; `copied` undefined: not checked. Errors:
 * ETL_INCOMPLETE.
 */
export const checkCopied = (table: string, copied: number | undefined, found: number): void => {
  if (copied === undefined || copied === found) return;
  const problem = `${plural(copied, 'row')} copied, but ${formatCount(found)} found in staging`;
  throw new EtlError('ETL_INCOMPLETE', { table, problem });
};

/** Turns a refusal of a constraint or index into our error; returns other errors unchanged. */
export const buildError = ({ table }: TableNames, what: string, cause: unknown): unknown => {
  if (!isRefusal(cause)) return cause;
  const { detail, column } = cause as { detail?: string; column?: string };
  const sqlstate = codeOf(cause);
  if (sqlstate === '23505')
    return new EtlError('ETL_DUPLICATE_KEY', { table, key: what, detail: detail ?? '' }, { cause });
  if (sqlstate === '23502')
    return new EtlError(
      'ETL_PUBLISH_NULL',
      { table, column, reason: `${what} does not allow them` },
      { cause },
    );
  const problem = `${what}: ${messageOf(cause)}`;
  return new EtlError('ETL_PUBLISH_REFUSED', { table, sqlstate, problem, hint: hintOf(cause) }, { cause });
};
