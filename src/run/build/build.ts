// Builds the new version of one table in the build schema.

import { rounded, secondsSince } from '../../core/amounts.ts';
import { stagingTable } from '../../db/staging.ts';
import { runQuery, withOwnTransaction, withPath, withTransaction, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { countRows } from '../../db/rows.ts';
import { quoteName } from '../../db/sql.ts';
import type { SourceTableSpec, TableSpec } from '../../core/declaration.ts';
import type { BuildWhat } from '../../core/model.ts';
import { mentions } from '../../publish/table/table-order.ts';
import { byConnections, distribute, isDistributed } from '../../publish/table/distribution.ts';
import { createAs } from '../../publish/table/storage.ts';
import { inTablespaceOf } from '../../publish/table/tablespace.ts';
import { aroundSql, buildError, setNotNull } from '../../publish/aside/build-table.ts';
import {
  besideName,
  builtName,
  dropBuiltTable,
  fileColumn,
  productionName,
  stagedName,
} from '../../db/names.ts';
import { refuseHiddenRows, showRows } from '../../publish/modes/views.ts';
import { findByHand } from '../../publish/table/by-hand.ts';
import { columnsOf } from '../../publish/table/table-state.ts';
import { modeOf, waysOf } from '../../publish/modes/registry.ts';
import { publishedColumns, type BuiltTable, type DeclaredTable } from '../../publish/table/tables.ts';
import { transformError, type SqlText } from '../../db/sql-file.ts';
import type { BuildContext, Work } from '../context.ts';
import { declaredAs } from '../../publish/modes/declared.ts';
import type { Bringing } from './bringing.ts';
import { buildPartitions, rehearsePartitions, type Alongside } from './build-partitions.ts';
import { checkRow } from './check-row.ts';
import { eachStaged } from '../../publish/modes/fill-all.ts';
import type { Filled } from '../../publish/modes/contract.ts';
import type { StatisticsOf } from './staged-statistics.ts';
import { takeMade, takeStaged } from './taken-rows.ts';

/**
 * Returns the tables that the SQL reads in production, without tables of which it reads this run's
 * new version.
 */
const readInProduction = (
  { tables }: BuildContext['spec'],
  table: TableSpec,
  sql: string,
  prior: readonly BuiltTable[],
): readonly string[] =>
  tables.flatMap(({ name }) => {
    const isRead = (table.kind === 'derived' && table.from.includes(name)) || mentions(sql, name);
    const isMade = prior.some((one) => one.table === name && one.extent === 'whole');
    return isRead && !isMade ? [name] : [];
  });

/**
 * Fills a table by its SQL file. Unqualified names mean this run's new tables first, then
 * production; `<table>_staging` is the staging of a text table.
 */
const fillFromSql = (
  { client, spec }: Work,
  table: TableSpec,
  names: DeclaredTable,
  sql: SqlText,
  { extent, prior, isRehearsal }: Pick<Bringing, 'extent' | 'prior' | 'isRehearsal'>,
): Promise<Filled> => {
  const view = quoteName(names.buildSchema, stagedName(table.name));
  return withTransaction(client, async () => {
    // The build schema is first on the search path, and only we can create objects there.
    if (table.kind === 'source')
      await client.query(`create view ${view} as select * from ${stagingTable(spec.name, table.name)}`);
    await refuseHiddenRows(client, spec.schema, readInProduction(spec, table, sql.text, prior));
    // The views are dropped in the same transaction, so a killed process leaves no view behind.
    const drops: string[] = [];
    for (const one of prior) {
      const isWanted = (name: string): boolean =>
        name === one.table || (names.mode.rowsKnownBy === 'key' && mentions(sql.text, name));
      drops.push(...(await showRows(client, one, extent === 'whole', isWanted, isRehearsal === true)));
    }
    const fillBy = (beginning: string, isEmpty: boolean) => {
      const [before, after] = aroundSql(beginning, isEmpty);
      return withPath(client, [names.buildSchema, ...names.path], () =>
        // The extended protocol accepts only one statement: the server refuses a file with two.
        client.query({ text: before + sql.text + after, queryMode: 'extended' } as { text: string }),
      ).catch((cause: unknown) => {
        throw transformError(sql, before.length, cause);
      });
    };
    const isElsewhere = extent === 'whole' && isDistributed(names);
    let filled = await fillBy(createAs(names), isRehearsal === true || isElsewhere);
    if (isElsewhere) {
      await distribute(client, names);
      filled = await fillBy(`insert into ${builtName(names)}`, isRehearsal === true);
    }
    if (table.kind === 'source') await client.query(`drop view ${view}`);
    for (const drop of drops) await client.query(drop);
    return eachStaged(filled.rowCount ?? 0, builtName(names));
  });
};

interface BuildSession extends BuildContext {
  readonly statisticsOf?: StatisticsOf;
}

const making = async <T>(
  { report }: Work,
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
 * Builds in one transaction, so that no session sets hint bits: with page checksums, hint bits
 * would write the whole table to the log. A SQL file is excluded, because it locks tables of other
 * pipelines.
 */
const together = async (
  client: Client,
  sql: SqlText | undefined,
  fillTable: () => Promise<Filled>,
  complete?: () => Promise<() => Promise<void>>,
): Promise<Filled> => {
  const inOne = <T>(first: () => Promise<T>): Promise<T> =>
    withOwnTransaction(client, async (beginning, ending) => {
      const [, completeNow, made] = await askTogether(client, () => [
        runQuery(client, beginning),
        complete?.() ?? Promise.resolve(undefined),
        first(),
      ]);
      await completeNow?.();
      await runQuery(client, ending);
      return made;
    });
  if (sql === undefined) return inOne(fillTable);
  const filled = await fillTable();
  return complete === undefined ? filled : inOne(() => Promise.resolve(filled));
};

const buildWhole = (
  context: BuildSession,
  table: TableSpec,
  names: DeclaredTable,
  bringing: Bringing,
): Promise<Filled> => {
  const { client, report, statisticsOf } = context;
  const { sql, isRehearsal = false } = bringing;
  const { primaryKey, indexes, constraints = [] } = table;
  const fillTable = () =>
    making(context, table, 'rows', async () => {
      if (sql === undefined && isDistributed(names) && !isRehearsal) await runQuery(client, byConnections);
      return fill(context, table, names, bringing);
    });
  const complete = () =>
    waysOf(names).complete({
      client,
      names,
      primaryKey,
      indexes,
      constraints,
      statistics: names.mode.rowsKnownBy === 'key' ? undefined : statisticsOf?.(table.name),
      isRehearsal,
      making: (what, work) => making(context, table, what, work),
      announce: (message) => report.emit({ type: 'notice', message }),
    });
  return together(client, sql, fillTable, complete);
};

const buildPartitioned = (
  context: BuildSession,
  table: TableSpec,
  names: DeclaredTable,
  bringing: Bringing,
  alongside: Alongside,
): Promise<Filled> =>
  making(context, table, 'rows', async () => {
    const { client, spec } = context;
    const { sql, isRehearsal = false } = bringing;
    const isMade = sql !== undefined || names.mode.rowsKnownBy === 'key';
    const made = { ...names, built: besideName(names.table, 'rows'), attributes: undefined };
    const filled = isMade
      ? await together(client, sql, () => fill(context, table, made, bringing))
      : undefined;
    const staging = stagingTable(spec.name, table.name);
    const { source, taken } = isMade
      ? { source: builtName(made), taken: filled!.taken }
      : await takeStaged(client, names, staging, isRehearsal);
    const columns = isMade
      ? (await columnsOf(client, [source]))[0]!
      : (table as SourceTableSpec).columns.map(({ name, nullable }) => ({ name, notNull: !nullable }));
    const from = {
      source,
      columns: columns.map(({ name }) => name),
      required: columns.filter(({ notNull }) => notNull).map(({ name }) => name),
    };
    const build = isRehearsal ? rehearsePartitions : buildPartitions;
    const statistics = isMade ? undefined : context.statisticsOf?.(table.name);
    const built = await build(context, table, names, bringing, { ...from, statistics }, alongside);
    if (isMade) await runQuery(client, dropBuiltTable(made));
    const rowsFrom = builtName(names);
    if (!isMade && taken !== undefined) await client.query(`drop table ${source}`);
    return { ...eachStaged(built.rows, rowsFrom), ...built, ...filled, rows: built.rows, rowsFrom, taken };
  });

/** Number of rows that publishing will delete: none if partitions are replaced. */
const leavingOf = async (
  { client }: Work,
  names: DeclaredTable,
  { extent, outgoing, isRehearsal }: Bringing,
): Promise<number> => {
  const { files } = outgoing;
  const isDeleted = names.mode.rowsKnownBy === 'file' && names.mode.replacesPartitions !== true;
  if (!isDeleted || extent === 'whole' || files.length === 0 || isRehearsal === true) return 0;
  const isLeaving = `${quoteName(fileColumn)} = any ('{${files.join(',')}}'::bigint[])`;
  return countRows(client, `${productionName(names)} where ${isLeaving}`);
};

export const buildOne = async (
  context: BuildSession,
  table: TableSpec,
  bringing: Bringing,
  alongside: Alongside,
  loadSeconds = 0,
): Promise<BuiltTable> => {
  const start = performance.now();
  const { extent, outgoing, isRehearsal } = bringing;
  const names = declaredAs(context.spec, table, extent);
  context.abort?.throwIfAborted();
  const { indexes, partitionBy, keep = 0 } = table;
  const isPartitioned =
    partitionBy !== undefined && (extent === 'whole' || names.mode.replacesPartitions === true);
  const build = isPartitioned ? buildPartitioned : buildWhole;
  const isCopied = (isPartitioned || extent === 'whole') && isRehearsal !== true;
  const { client } = context;
  const [[byHand], filled] = await askTogether(client, () => [
    isCopied ? findByHand(client, [names]) : Promise.resolve([]),
    inTablespaceOf(client, names, () => build(context, table, names, bringing, alongside)),
  ]);
  return {
    ...names,
    keep,
    ...filled,
    outgoing,
    leaving: await leavingOf(context, names, bringing),
    indexes: indexes.map(({ name }) => name),
    byHand,
    seconds: rounded(loadSeconds + secondsSince(start)),
  };
};

/**
 * Fills a table from typed staging. Only counts rows that COPY loaded into the table itself, or
 * that publishing copies from staging.
 */
const fillTyped = async (
  { client, spec }: Work,
  table: SourceTableSpec,
  names: DeclaredTable,
  isRehearsal: boolean | undefined,
): Promise<Filled> => {
  const staged = stagingTable(spec.name, table.name);
  const { source: staging, taken } = await takeStaged(client, names, staged, isRehearsal);
  const required = publishedColumns(table).flatMap(({ name, nullable }) => (nullable ? [] : [name]));
  const whenCreated = required.length > 0 ? [setNotNull(names, required)] : [];
  return { ...(await modeOf(names).fillTable({ client, table, names, staging, whenCreated })), taken };
};

const fill = async (
  context: BuildContext,
  table: TableSpec,
  names: DeclaredTable,
  bringing: Bringing,
): Promise<Filled> => {
  const { sql, isRehearsal } = bringing;
  if (sql !== undefined) {
    const filled = await fillFromSql(context, table, names, sql, bringing);
    await checkRow(context.client, table, names);
    return { ...filled, taken: await takeMade(context.client, names) };
  }
  try {
    return await fillTyped(context, table as SourceTableSpec, names, isRehearsal);
  } catch (cause) {
    throw buildError(names, 'rows', cause);
  }
};
