// Builds the new version of every table aside: what is done to one table, and all of them.

import type { Extent, SourceTableSpec, TableSpec } from '../../declaration.ts';
import { stagingTable } from '../../copy/staging.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { ensureSchema, runQuery, withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import {
  buildError,
  aroundSql,
  createFromStaging,
  createShape,
  createUnion,
  dropUnion,
  setNotNull,
} from '../../publish/build-table.ts';
import { clearBuildSchema, countRows, dropBuildSchema } from '../../publish/build-schema.ts';
import {
  buildSchema,
  builtName,
  dropBuiltTable,
  productionName,
  type BuiltPartition,
  type BuiltTable,
  type TableNames,
} from '../../publish/names.ts';
import { fittingName } from '../../publish/partitions/bounds.ts';
import { buildFor, modeOf } from '../../publish/registry.ts';
import { columnsOf } from '../../publish/production/table-state.ts';
import { transformError, type SqlText } from '../../transform/sql-file.ts';
import type { BuildWhat } from '../../model.ts';
import { prerequisites, tableOrder } from '../../pipeline/check/table-order.ts';
import { noneOutgoing, type Intake } from '../begin/sieve.ts';
import type { PlannedTable } from '../begin/plan.ts';
import { buildPartitions } from './build-partitions.ts';
import { sideBySide, type Alongside } from './build-side-by-side.ts';
import { checkRow } from './check-row.ts';
import { secondsSince, type RunContext } from '../context.ts';
import { throwNamed } from '../publish/name-records.ts';
import { rounded } from '../rounded.ts';
import { declaredAs, directTables, landsDirectly, namesOf } from '../landing.ts';
import { refuseStrangers } from '../../server/preflight.ts';

/** Rows that were built, and the quoted name of the table that has them. */
interface Filled {
  readonly rows: number;
  readonly rowsFrom: string;
  /** Of a table that is divided. */
  readonly partitions?: readonly BuiltPartition[];
}

/** What a run brings to a table that is made from others. */
const wholeTable: Pick<Intake, 'extent' | 'outgoing'> = { extent: 'whole', outgoing: noneOutgoing };

/** Rows of a typed table, from staging, unless they were loaded straight into it, or go from there into production. */
const fillTyped = async (
  { client, spec }: RunContext,
  table: SourceTableSpec,
  names: TableNames,
  extent: Extent,
): Promise<Filled> => {
  const rowsFrom = builtName(names);
  // The rows are there already; they are counted, because the proof of completeness uses the actual count, not the reported one.
  if (landsDirectly(table))
    return { rows: (await runQuery(client, countRows(rowsFrom))).rows[0].rows, rowsFrom };
  const staging = stagingTable(spec.name, table.name);
  const columns = table.columns.map(({ name }) => name);
  const create = extent === 'whole' ? createFromStaging : createShape;
  const filled = await runQuery(client, create(names, columns, staging));
  const required = table.columns.filter(({ nullable }) => !nullable).map(({ name }) => name);
  if (required.length > 0) await runQuery(client, setNotNull(names, required));
  if (extent === 'whole') return { rows: filled.rowCount ?? 0, rowsFrom };
  return { rows: (await runQuery(client, countRows(staging))).rows[0].rows, rowsFrom: staging };
};

/**
 * Shows SQL all rows of a table to which some are put, as they will be. Others who show the same table wait until it is over: a view
 * that a killed process has left would be a stranger's to the next.
 */
const showWhole = async (client: Client, part: BuiltTable): Promise<void> => {
  const [columns, production] = await columnsOf(client, [builtName(part), productionName(part)]);
  await runQuery(client, createUnion(part, columns!, production!));
};

/**
 * Rows of a table that a SQL file makes. Its unqualified names find the new tables of this run first, then production;
 * a text table's staging is there as `<table>_staging`.
 */
const fillFromSql = (
  { client, spec }: RunContext,
  table: TableSpec,
  names: TableNames,
  sql: SqlText,
  parts: readonly BuiltTable[],
): Promise<Filled> => {
  const [before, after] = aroundSql(names);
  const view = quoteName(names.buildSchema, `${table.name}_staging`);
  return withTransaction(client, async () => {
    // First on the search path, where nobody else can create anything.
    if (table.kind === 'source')
      await client.query(`create view ${view} as select * from ${stagingTable(spec.name, table.name)}`);
    for (const part of parts) await showWhole(client, part);
    const filled = await withPath(client, [names.buildSchema, ...names.path], () =>
      // The extended protocol takes one statement only: a second one in the file is refused by the server.
      client.query({ text: before + sql.text + after, queryMode: 'extended' } as { text: string }),
    ).catch((cause: unknown) => {
      throw transformError(sql, before.length, cause);
    });
    if (table.kind === 'source') await client.query(`drop view ${view}`);
    for (const part of parts) await runQuery(client, dropUnion(part));
    return { rows: filled.rowCount ?? 0, rowsFrom: builtName(names) };
  });
};

/** One part of building a table, announced and timed. */
const making = async <T>(
  { report }: RunContext,
  { name: table }: TableSpec,
  what: BuildWhat,
  work: () => Promise<T>,
): Promise<T> => {
  report.emit({ type: 'building', table, what });
  const start = performance.now();
  const result = await work();
  report.built(table, what, secondsSince(start));
  return result;
};

/**
 * A table from staging is built in one transaction: nobody sets hint bits on rows whose transaction is not over, which
 * would write the whole table to the log where pages have checksums. A SQL file reads tables that others publish, and they
 * would wait for the indexes, too.
 */
const together = <T>(client: Client, sql: SqlText | undefined, build: () => Promise<T>): Promise<T> =>
  sql === undefined ? withTransaction(client, build) : build();

/** The rows of a table, with keys, indexes and statistics. */
const buildWhole = (
  context: RunContext,
  table: TableSpec,
  names: TableNames,
  { extent, sql, parts }: Bringing,
): Promise<Filled> => {
  const { client, report } = context;
  const { primaryKey, indexes, constraints = [], publish } = table;
  return together(client, sql, async () => {
    const filled = await making(context, table, 'rows', () =>
      fill(context, table, names, extent, sql, parts),
    );
    const build = buildFor(modeOf(publish), extent);
    await build({
      client,
      names,
      primaryKey,
      indexes,
      constraints,
      making: (what, work) => making(context, table, what, work),
      tell: (message) => report.emit({ type: 'notice', message }),
    });
    return filled;
  });
};

/** The same of a table that is divided: rows that SQL makes come into a table of their own first. */
const buildDivided = (
  context: RunContext,
  table: TableSpec,
  names: TableNames,
  { extent, sql, parts, alongside }: Bringing,
): Promise<Filled> =>
  making(context, table, 'rows', async () => {
    const { client, spec } = context;
    const made = { ...names, built: fittingName(`${names.table}__rows`) };
    if (sql !== undefined) await fill(context, table, made, extent, sql, parts);
    const source = sql === undefined ? stagingTable(spec.name, table.name) : builtName(made);
    const columns =
      sql === undefined
        ? (table as SourceTableSpec).columns.map(({ name, nullable }) => ({ name, notNull: !nullable }))
        : (await columnsOf(client, [source]))[0]!;
    const rows = {
      source,
      columns: columns.map(({ name }) => name),
      required: columns.filter(({ notNull }) => notNull).map(({ name }) => name),
    };
    const partitions = await buildPartitions(context, table, names, extent, rows, alongside);
    if (sql !== undefined) await runQuery(client, dropBuiltTable(made));
    return {
      rows: partitions.reduce((sum, partition) => sum + partition.rows, 0),
      rowsFrom: builtName(names),
      partitions,
    };
  });

/** What comes into a table, and who helps. */
interface Bringing extends Pick<Intake, 'extent' | 'outgoing'> {
  readonly sql: SqlText | undefined;
  readonly parts: readonly BuiltTable[];
  readonly alongside: Alongside;
}

const buildOne = async (
  context: RunContext,
  table: TableSpec,
  bringing: Bringing,
  loadSeconds: number,
): Promise<BuiltTable> => {
  const start = performance.now();
  const { extent, outgoing } = bringing;
  const names = declaredAs(context.spec, table, extent);
  context.abort?.throwIfAborted();
  const { indexes, comment, partitionBy, keep = 0 } = table;
  const build = partitionBy !== undefined && extent === 'whole' ? buildDivided : buildWhole;
  const filled = await build(context, table, names, bringing);
  return {
    ...names,
    comment,
    keep,
    ...filled,
    outgoing,
    indexes: indexes.map(({ name }) => name),
    seconds: rounded(loadSeconds + secondsSince(start)),
  };
};

const fill = async (
  context: RunContext,
  table: TableSpec,
  names: TableNames,
  extent: Extent,
  sql: SqlText | undefined,
  parts: readonly BuiltTable[],
): Promise<Filled> => {
  if (sql !== undefined) {
    const filled = await fillFromSql(context, table, names, sql, parts);
    await checkRow(context.client, table, names);
    return filled;
  }
  try {
    return await fillTyped(context, table as SourceTableSpec, names, extent);
  } catch (cause) {
    throw buildError(names, 'rows', cause);
  }
};

/** Whatever an earlier attempt built is dropped, except for rows that were loaded there. */
const emptyBuildSchema = async ({ client, spec }: RunContext): Promise<void> => {
  const loaded = directTables(spec);
  if (loaded.length > 0) return clearBuildSchema(client, spec.name, loaded);
  await dropBuildSchema(client, spec.name);
  await withTransaction(client, async () => {
    await ensureSchema(client, buildSchema(spec.name));
    await refuseStrangers(client, spec.name);
  });
};

/** Drops what a run has built that will not publish it. Rows that were loaded there stay: the run goes on with them. */
export const dropBuilt = async ({ client, spec }: RunContext): Promise<void> => {
  await awaitBuildsEnd(client, spec.name);
  const loaded = directTables(spec);
  if (loaded.length > 0) await clearBuildSchema(client, spec.name, loaded);
  else await dropBuildSchema(client, spec.name);
};

/**
 * Builds all tables of the pipeline in its build schema, which is emptied first. Returns them in the order in which they
 * depend on each other. Takes no lock on production that readers feel: test/integration/build-side-by-side.test.ts, "that
 * read production all the time".
 *
 * Errors: ETL_TRANSFORM, ETL_ROW_DIFFERS, ETL_DUPLICATE_KEY, ETL_CONSTRAINT, ETL_CONSTRAINT_REFUSED, ETL_PUBLISH_NULL, ETL_PUBLISH_REFUSED;
 * ETL_SERVER_LOST.
 */
export const buildTables = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  sqlTexts: ReadonlyMap<string, SqlText>,
  loadSeconds: ReadonlyMap<string, number>,
): Promise<readonly BuiltTable[]> => {
  const { client, spec } = context;
  await awaitBuildsEnd(client, spec.name);
  await emptyBuildSchema(context);
  const built = new Map<string, BuiltTable>();
  await sideBySide(context, sqlTexts, async (own, table, alongside) => {
    const { name } = table;
    const brought = planned.find((one) => one.table.name === name)?.intake ?? wholeTable;
    const sql = sqlTexts.get(name);
    // In one order, because they wait for each other.
    const parts = prerequisites(table, spec.tables, sql?.text ?? '')
      .toSorted()
      .flatMap((one) => built.get(one) ?? [])
      .filter(({ extent }) => extent === 'part');
    const bringing = { ...brought, sql, parts, alongside };
    const building = buildOne(own, table, bringing, loadSeconds.get(name) ?? 0).catch((cause: unknown) =>
      throwNamed(own, runId, namesOf(spec, table, brought.extent), cause),
    );
    built.set(name, await building);
  });
  return tableOrder(spec.tables).map(({ name }) => built.get(name)!);
};
