// Chooses a strategy for each table of a run, and records what was published.

import type { Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import type { Query } from '../db/sql.ts';
import { foreseenColumns } from './alter/changes.ts';
import { withServerColumns } from './table/server-columns.ts';
import { checkConditions } from './table/constraints.ts';
import { foreignKeysOf } from './table/foreign-keys.ts';
import { refuseOtherDistribution } from './table/distribution.ts';
import { checkTargetsOutside } from './table/targets-outside.ts';
import type { Applied } from './apply.ts';
import type { Strategy, PublishPlan } from './modes/contract.ts';
import type { BuiltOver, Found } from './table/built-over.ts';
import type { Dependent } from './table/dependents.ts';
import { keyChanges } from './alter/keys.ts';
import { asTaken, keptForTypes, takenText, takenTypes } from './alter/taken-types.ts';
import { mergeColumns } from '../db/names.ts';
import type { BuiltTable, DeclaredTable } from './table/tables.ts';
import { ProductionChanged, isSame, productionTables, type ProductionTable } from './table/production.ts';
import { findByHand, refuseChangedByHand } from './table/by-hand.ts';
import { refuseGone } from './gone.ts';
import { chooseStrategy, modeOf } from './modes/registry.ts';
import { refuseOtherPartitioning } from './table/partition-shape.ts';
import { refuseOther } from './table/shape.ts';
import { builtStates, columnsOf, type TableColumn } from './table/table-state.ts';

/** A table to check. `like`: quoted name of a table with its columns; undefined: SQL makes them. */
export interface Target {
  readonly table: DeclaredTable;
  readonly like: string | undefined;
}

/** Columns that `like` may have in addition to the declared columns. */
const stagedOnly: readonly string[] = Object.values(mergeColumns);

const publishedOf = (
  { mode: { versions } }: DeclaredTable,
  columns: readonly TableColumn[],
): readonly TableColumn[] => {
  const published = columns.filter(({ name }) => !stagedOnly.includes(name));
  const from = published.find(({ name }) => name === versions?.from);
  return from === undefined ? published : [...published, { ...from, name: versions!.to, notNull: false }];
};

const choose = (
  table: DeclaredTable,
  columns: readonly TableColumn[],
  production: ProductionTable | undefined,
  found?: Found,
): Strategy => {
  const strategy = chooseStrategy(table, production, found);
  if (production === undefined) {
    if (table.extent === 'part') refuseGone(table);
    return strategy;
  }
  refuseOther(table, production);
  refuseOtherPartitioning(table, production);
  refuseOtherDistribution(table, production);
  strategy.check(table, asTaken(columns, production.columns), production);
  return strategy;
};

/**
 * Refuses what publishing would refuse, before anything is loaded. Returns the production tables.
 */
export const checkTargets = async (
  client: Client,
  targets: readonly Target[],
): Promise<readonly (ProductionTable | undefined)[]> => {
  const columns = (
    await columnsOf(
      client,
      targets.flatMap(({ like }) => like ?? []),
    )
  ).values();
  const tables = targets.map(({ table }) => table);
  const found = await productionTables(client, tables);
  for (const [index, { table, like }] of targets.entries()) {
    await checkTargetsOutside(client, table, tables, like);
    if (like === undefined) continue;
    const filled = await foreseenColumns(client, table, found[index]);
    const loaded = columns.next().value!.filter(({ name }) => filled.every((one) => one.name !== name));
    const declared = [...publishedOf(table, loaded), ...filled];
    choose(table, declared, keptForTypes(table, declared, found[index]));
    await checkConditions(client, table, table.constraints, withServerColumns(like, table.attributes));
  }
  return found;
};

const planOf = (over: BuiltOver, strategy: Strategy, found?: Found): PublishPlan => {
  const { table, builtAs, production } = over;
  const chosen = found === undefined ? strategy : choose(table, builtAs.columns, production, found);
  const { rebuilt } = found ?? {};
  const plan =
    rebuilt === undefined
      ? over
      : { table: { ...table, built: rebuilt.built }, builtAs: { ...builtAs, oid: rebuilt.oid }, production };
  // A strategy that writes rows first alters the table, if it differs from the declaration.
  const blocksReaders = chosen.writes && keyChanges(over).blocksReaders;
  return { ...plan, strategy: chosen, found, blocksReaders };
};

interface Planning {
  /** If true, rows are compared with production where the choice of strategy depends on them. */
  readonly looks?: boolean;
  readonly stays?: Dependent | undefined;
}

/**
 * Plans all tables over what `read` finds in production. Only strategies that compare rows need
 * more queries for more tables. Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED.
 */
export const planOver = async (
  client: Client,
  tables: readonly BuiltTable[],
  read: () => Promise<readonly (ProductionTable | undefined)[]>,
  { looks = false, stays }: Planning = {},
): Promise<readonly PublishPlan[]> => {
  const [built, productions] = await askTogether(client, () => [builtStates(client, tables), read()]);
  const chosen = tables.map((table, index) => {
    const builtAs = built[index]!;
    const production = keptForTypes(table, builtAs.columns, productions[index]);
    const over = { table, builtAs, production };
    return { found: over, strategy: choose(table, over.builtAs.columns, over.production) };
  });
  const plans: PublishPlan[] = [];
  for (const { found, strategy } of chosen) {
    const over = { ...found, unlike: (await strategy.tryAside?.(client, found)) ?? [] };
    const { look } = modeOf(over.table);
    plans.push({ ...planOf(over, strategy, looks ? await look?.(client, over) : undefined), stays });
  }
  return plans;
};

export const planPublish = async (
  client: Client,
  tables: readonly BuiltTable[],
  planning: Planning = {},
): Promise<readonly PublishPlan[]> =>
  planOver(client, tables, () => productionTables(client, tables, planning.stays), planning);

export const replacedText = (
  pipeline: string,
  { table, production }: Pick<PublishPlan, 'table' | 'production'>,
): string | undefined => {
  const by = production?.publishedBy ?? pipeline;
  // SQL makes the same rows in every pipeline that declares the table.
  if (by === pipeline || table.extent === 'part' || table.declared.length === 0) return undefined;
  return (
    `${table.schema}.${table.table}: pipeline ${by} published it last, and all its rows are replaced by those of ${pipeline}; ` +
    'two pipelines that replace one table undo each other'
  );
};

/** Says that columns declared narrower than production's get its types. */
export const takenNotice = ({
  table,
  builtAs,
  production,
  strategy,
}: Pick<PublishPlan, 'table' | 'builtAs' | 'production' | 'strategy'>): string | undefined => {
  const isSwapped = !strategy.writes && table.partitionBy === undefined && table.extent === 'whole';
  if (production === undefined || isSwapped) return undefined;
  const taken = table.taken ?? takenTypes(builtAs.columns, production.columns);
  return taken.length === 0
    ? undefined
    : `${table.schema}.${table.table} keeps its types, which are wider than declared: ${takenText(taken)}`;
};

/**
 * Longest wait for relations that a view or policy reads. Then publishing starts over without
 * locks.
 */
const lookMs = 2_000;

export const unlimitedWaits: Query = { text: 'set local lock_timeout = 0' };

/**
 * Fails if production has changed since the plan. Needs a lock that protects the table but not its
 * dependents. The transaction keeps a limit for locks, until `unlimitedWaits`. Errors: ProductionChanged, ChangedByHand, and SQLSTATE 55P03, because writers already
 * wait. Proved by test/modes/strangers.test.ts, "that a policy reads".
 */
export const checkPlanned = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const tables = plans.map(({ table }) => table);
  const copies = plans.flatMap(({ strategy, table }) =>
    strategy.writes || table.byHand === undefined ? [] : [table],
  );
  const [, now, byHand] = await askTogether(client, () => [
    client.query(`set local lock_timeout = ${lookMs}`),
    productionTables(client, tables, plans[0]?.stays),
    copies.length === 0 ? Promise.resolve([]) : findByHand(client, copies),
  ]);
  for (const [index, { table, builtAs, production }] of plans.entries())
    if (!isSame(keptForTypes(table, builtAs.columns, now[index]), production)) throw new ProductionChanged();
  refuseChangedByHand(copies, byHand);
};

/**
 * Records what was published. `published_at` orders the runs of a table: run ids cannot, because
 * runs overlap; clocks cannot, because a table may have moved to another server.
 */
export const insertPublished = (
  runId: number,
  plans: readonly PublishPlan[],
  before: ReadonlyMap<string, number | null>,
  { rows, changes }: Pick<Applied, 'rows' | 'changes'>,
): Query => ({
  text: `insert into etl.published_table
      (run_id, schema_name, table_name, table_oid, strategy, rows, seconds, indexes, columns, not_null, primary_key, rows_before, version,
        constraints, changes, partitions, published_at)
    select $1, p.schema_name, p.table_name, p.table_oid, p.strategy, p.rows, p.seconds, p.indexes, p.columns, p.not_null,
        p.primary_key, p.rows_before, p.version, p.constraints, p.changes, p.partitions,
        greatest(clock_timestamp(), (
          select max(o.published_at) + interval '1 microsecond' from etl.published_table o
            where o.schema_name = p.schema_name and o.table_name = p.table_name
        ))
      from jsonb_to_recordset($2::jsonb) as p (schema_name text, table_name text, table_oid oid, strategy text, rows bigint,
        seconds float8, indexes text[], columns text[], not_null text[], primary_key text[], rows_before bigint,
        version bigint, constraints text[], changes jsonb, partitions text[])`,
  values: [
    runId,
    JSON.stringify(
      plans.map((plan) => {
        const { table, builtAs, strategy } = plan;
        return {
          schema_name: table.schema,
          table_name: table.table,
          table_oid: strategy.oidInProduction(plan),
          strategy: strategy.name,
          rows: rows.get(table.table),
          seconds: table.seconds,
          indexes: table.indexes,
          columns: builtAs.columns.map(({ name }) => name),
          not_null: builtAs.columns.filter(({ notNull }) => notNull).map(({ name }) => name),
          primary_key: table.primaryKey,
          rows_before: before.get(table.table),
          version: table.returns?.run,
          // A restored version has the constraints that it had when it was published.
          constraints: [
            ...new Set(
              [...(strategy.writes ? table : builtAs).constraints, ...foreignKeysOf(table)].map(
                ({ name }) => name,
              ),
            ),
          ],
          changes: changes.get(table.table),
          partitions: table.touched?.names,
        };
      }),
    ),
  ],
});
