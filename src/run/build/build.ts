// Builds the new version of every table aside: what is done to one table, and all of them.

import type { SourceTableSpec, TableSpec } from '../../declaration.ts';
import { stagingTable } from '../../copy/staging.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { ensureSchema, runQuery, withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { inPlaceOf } from '../../publish/attributes/tablespace.ts';
import { buildError, aroundSql } from '../../publish/build-table.ts';
import { buildForeignKeys } from '../../publish/constraints/make-foreign-keys.ts';
import { RowsRefused } from '../../publish/constraints/refused-rows.ts';
import { clearBuildSchema, dropBuildSchema } from '../../publish/build-schema.ts';
import {
  buildSchema,
  builtName,
  dropBuiltTable,
  modeOf,
  type BuiltTable,
  type MergeRules,
  type TableNames,
  publishedColumns,
} from '../../publish/names.ts';
import { showRows } from '../../publish/part/views.ts';
import { fittingName } from '../../publish/partitions/bounds.ts';
import { buildFor } from '../../publish/registry.ts';
import { columnsOf } from '../../publish/production/table-state.ts';
import { transformError, type SqlText } from '../../transform/sql-file.ts';
import type { BuildWhat } from '../../model.ts';
import { mentions, prerequisites, tableOrder } from '../../pipeline/check/table-order.ts';
import type { PlannedTable } from '../begin/plan.ts';
import { buildPartitions } from './build-partitions.ts';
import { sideBySide, type Alongside } from './build-side-by-side.ts';
import { checkRow } from './check-row.ts';
import { derivedIntake, type Brought } from './derived-intake.ts';
import { eachStaged, fillTyped, type Filled } from './fill-typed.ts';
import { secondsSince, type RunContext } from '../context.ts';
import { throwNamed } from '../publish/name-records.ts';
import { rounded } from '../rounded.ts';
import { declaredAs, directTables, namesOf, versionsOf } from '../landing.ts';
import { refuseStrangers } from '../../server/preflight.ts';

/**
 * Rows of a table that a SQL file makes. Its unqualified names find the new tables of this run first, then production;
 * a text table's staging is there as `<table>_staging`.
 */
const fillFromSql = (
  { client, spec }: RunContext,
  table: TableSpec,
  names: TableNames,
  sql: SqlText,
  { extent, prior }: Pick<Bringing, 'extent' | 'prior'>,
): Promise<Filled> => {
  const [before, after] = aroundSql(names);
  const view = quoteName(names.buildSchema, `${table.name}_staging`);
  return withTransaction(client, async () => {
    // First on the search path, where nobody else can create anything.
    if (table.kind === 'source')
      await client.query(`create view ${view} as select * from ${stagingTable(spec.name, table.name)}`);
    // In this transaction: a view that a killed process has left would be a stranger's.
    const drops: string[] = [];
    for (const one of prior) {
      const isWanted = (name: string): boolean =>
        name === one.table || (modeOf(table.publish) === 'merge' && mentions(sql.text, name));
      drops.push(...(await showRows(client, one, extent === 'whole', isWanted)));
    }
    const filled = await withPath(client, [names.buildSchema, ...names.path], () =>
      // The extended protocol takes one statement only: a second one in the file is refused by the server.
      client.query({ text: before + sql.text + after, queryMode: 'extended' } as { text: string }),
    ).catch((cause: unknown) => {
      throw transformError(sql, before.length, cause);
    });
    if (table.kind === 'source') await client.query(`drop view ${view}`);
    for (const drop of drops) await client.query(drop);
    return eachStaged(filled.rowCount ?? 0, builtName(names));
  });
};

/** How the rows of a table are merged; undefined: they are not. */
const mergeRules = (table: TableSpec): MergeRules | undefined => {
  const { publish } = table;
  if (typeof publish === 'string' || publish.mode === 'append' || publish.mode === 'replace')
    return undefined;
  const columns = table.kind === 'source' ? publishedColumns(table) : [];
  const lineage = columns.filter((column) => column.lineage !== undefined).map(({ name }) => name);
  const deletes = publish.deleted.length > 0;
  if (publish.mode === 'merge') {
    const { update, newer, by } = publish;
    return { update, newer, by, lineage, deletes };
  }
  const versions = versionsOf(publish)!;
  const others = lineage.filter((name) => name !== versions.from);
  return { update: undefined, newer: undefined, lineage: others, deletes, versions };
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
  bringing: Bringing,
): Promise<Filled> => {
  const { client, report } = context;
  const { extent, sql } = bringing;
  const { primaryKey, indexes, constraints = [], publish } = table;
  return together(client, sql, async () => {
    const filled = await making(context, table, 'rows', () => fill(context, table, names, bringing));
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

/** The same of a table that is divided: rows that SQL makes, or that are merged, come into a table of their own first. */
const buildDivided = (
  context: RunContext,
  table: TableSpec,
  names: TableNames,
  bringing: Bringing,
): Promise<Filled> =>
  making(context, table, 'rows', async () => {
    const { client, spec } = context;
    const { sql, merge, alongside } = bringing;
    const isMade = sql !== undefined || merge !== undefined;
    const made = { ...names, built: fittingName(`${names.table}__rows`), attributes: undefined };
    const filled = isMade ? await fill(context, table, made, bringing) : undefined;
    const source = isMade ? builtName(made) : stagingTable(spec.name, table.name);
    const columns = isMade
      ? (await columnsOf(client, [source]))[0]!
      : (table as SourceTableSpec).columns.map(({ name, nullable }) => ({ name, notNull: !nullable }));
    const from = {
      source,
      columns: columns.map(({ name }) => name),
      required: columns.filter(({ notNull }) => notNull).map(({ name }) => name),
    };
    const built = await buildPartitions(context, table, names, bringing, from, alongside);
    if (isMade) await runQuery(client, dropBuiltTable(made));
    const rowsFrom = builtName(names);
    return { ...eachStaged(built.rows, rowsFrom), ...built, ...filled, rows: built.rows, rowsFrom };
  });

/** What comes into a table, and who helps. */
interface Bringing extends Brought {
  readonly sql: SqlText | undefined;
  /** Tables that are built, which its SQL may read. */
  readonly prior: readonly BuiltTable[];
  readonly merge: MergeRules | undefined;
  readonly alongside: Alongside;
}

const buildOne = async (
  context: RunContext,
  table: TableSpec,
  bringing: Bringing,
  loadSeconds: number,
): Promise<BuiltTable> => {
  const start = performance.now();
  const { extent, outgoing, merge } = bringing;
  const names = declaredAs(context.spec, table, extent);
  context.abort?.throwIfAborted();
  const { indexes, partitionBy, keep = 0 } = table;
  const isDivided = partitionBy !== undefined && (extent === 'whole' || names.mode === 'touched');
  const build = isDivided ? buildDivided : buildWhole;
  const filled = await inPlaceOf(context.client, names, () => build(context, table, names, bringing));
  return {
    ...names,
    keep,
    ...filled,
    merge,
    outgoing,
    indexes: indexes.map(({ name }) => name),
    seconds: rounded(loadSeconds + secondsSince(start)),
  };
};

const fill = async (
  context: RunContext,
  table: TableSpec,
  names: TableNames,
  bringing: Bringing,
): Promise<Filled> => {
  const { extent, merge, sql } = bringing;
  if (sql !== undefined) {
    const filled = await fillFromSql(context, table, names, sql, bringing);
    await checkRow(context.client, table, names);
    return filled;
  }
  try {
    return await fillTyped(context, table as SourceTableSpec, names, extent, merge);
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
    const sql = sqlTexts.get(name);
    const text = sql?.text ?? '';
    // In one order, because they wait for each other.
    const prior = prerequisites(table, spec.tables, text)
      .toSorted()
      .flatMap((one) => built.get(one) ?? []);
    const brought =
      planned.find((one) => one.table.name === name)?.intake ??
      (await derivedIntake(own, table, text, prior));
    const bringing = { ...brought, sql, prior, merge: mergeRules(table), alongside };
    const building = buildOne(own, table, bringing, loadSeconds.get(name) ?? 0).catch((cause: unknown) =>
      throwNamed(own, runId, namesOf(spec, table, brought.extent), cause),
    );
    built.set(name, await building);
  });
  const tables = tableOrder(spec.tables).map(({ name }) => built.get(name)!);
  await buildForeignKeys(client, tables).catch((cause: unknown) =>
    cause instanceof RowsRefused
      ? throwNamed(context, runId, built.get(cause.table)!, cause)
      : Promise.reject(cause),
  );
  return tables;
};
