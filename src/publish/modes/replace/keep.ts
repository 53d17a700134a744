// Keeps the replaced table as an earlier version in etl_kept. A swap moves the old table there with
// its indexes; rows that are replaced in place are copied.

import type { Client } from '../../../db/client.ts';
import { quoteName, type Query } from '../../../db/sql.ts';
import type { PublishPlan } from '../contract.ts';
import type { BuiltOver } from '../../table/built-over.ts';
import { keptSchema, productionName } from '../../../db/names.ts';
import type { ProductionTable } from '../../table/production.ts';

interface Replacing {
  readonly production: ProductionTable;
}

export const isKept = <Plan extends BuiltOver>(plan: Plan): plan is Plan & Replacing =>
  plan.table.keep > 0 && plan.table.extent === 'whole' && plan.production !== undefined;

/** Id of the run that loaded production's rows, or 0. */
const versionOf = ({ published }: ProductionTable): number => published?.run ?? 0;

const keptName = (production: ProductionTable): string => `run_${versionOf(production)}_${production.oid}`;

export const oldIndexName = (oid: number, index: number): string => `etl_old_${oid}_${index}`;

export const moveAway = (plan: BuiltOver): readonly string[] => {
  const { table, production } = plan;
  if (production === undefined) return [];
  const old = productionName(table);
  if (!isKept(plan)) return [`alter table ${old} set schema ${quoteName(table.buildSchema)};`];
  const name = keptName(production);
  return [
    `alter table ${old} rename to ${quoteName(name)};`,
    `alter table ${quoteName(table.schema, name)} set schema ${keptSchema};`,
    ...(production.owner === null
      ? []
      : [`alter table ${quoteName(keptSchema, name)} owner to current_user;`]),
  ];
};

export const copyAway = async (client: Client, plan: BuiltOver, rows: string): Promise<void> => {
  if (!isKept(plan)) return;
  const name = quoteName(keptSchema, keptName(plan.production));
  await client.query(`create table ${name} (like ${productionName(plan.table)})`);
  await client.query(`insert into ${name} select * from ${rows}`);
};

export const returnNames = ({ table, builtAs }: BuiltOver): readonly string[] =>
  (table.returns?.indexes ?? []).map(
    (name, index) =>
      `alter index ${quoteName(table.schema, oldIndexName(builtAs.oid, index))} rename to ${quoteName(name)};`,
  );

export const insertKept = (runId: number, pipeline: string, plans: readonly PublishPlan[]): Query => ({
  text: `insert into etl.kept_table (pipeline, schema_name, table_name, run_id, replaced_by, kept_name, table_oid, rows, indexes)
    select $1, k.schema_name, k.table_name, k.run_id, $2, k.kept_name,
        coalesce(k.oid, format('${keptSchema}.%I', k.kept_name)::regclass), k.rows, k.indexes
      from jsonb_to_recordset($3::jsonb) as k (schema_name text, table_name text, run_id bigint, kept_name text, oid oid, rows bigint,
        indexes text[])`,
  values: [
    pipeline,
    runId,
    JSON.stringify(
      plans.filter(isKept).map(({ table, production, strategy: { writes } }) => ({
        schema_name: table.schema,
        table_name: table.table,
        run_id: versionOf(production),
        kept_name: keptName(production),
        oid: writes ? null : production.oid,
        rows: production.published?.rows ?? null,
        indexes: writes ? null : production.indexes.map(({ name }) => name),
      })),
    ),
  ],
});
