// Creates the landings, which are the empty tables that COPY fills: staging tables, or with
// `staging: 'none'` the new tables themselves.

import { createStaging, dropStaging } from '../db/staging.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import { ensureSchema, runQuery, runTogether, setPath, withPath, type Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { distribute } from '../publish/table/distribution.ts';
import { inTablespaceOf } from '../publish/table/tablespace.ts';
import { createLanding } from '../publish/aside/build-schema.ts';
import { authorsPath, buildSchema, dropBuiltTable } from '../db/names.ts';
import type { RunContext, Work } from './context.ts';
import { landingTable, landsDirectly, namesOf } from '../db/landing.ts';
import type { PlannedTable } from './files/planned-table.ts';
import { refuseOtherSchemas } from '../db/session/access.ts';

export const existingLandings = async (
  client: Client,
  spec: PipelineSpec,
  planned: readonly Pick<PlannedTable, 'table'>[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await client.query(
    'select name from unnest($1::text[], $2::text[]) as t (name, landing) where to_regclass(landing) is not null',
    [planned.map(({ table }) => table.name), planned.map(({ table }) => landingTable(spec, table))],
  );
  return new Set(rows.map(({ name }) => name));
};

const makeDirect = async ({ client, spec }: Work, { table, staging }: PlannedTable): Promise<void> => {
  const columns = table.columns.map(({ nullable }, index) => ({ ...staging[index]!, nullable }));
  await runQuery(client, dropBuiltTable(namesOf(spec, table)));
  const names = namesOf(spec, table);
  await inTablespaceOf(client, names, () => runQuery(client, createLanding(names, columns)));
  await distribute(client, names);
};

export const createLandings = async (
  context: Work,
  planned: readonly PlannedTable[],
  persistence: 'unlogged' | 'logged' = 'unlogged',
): Promise<void> => {
  const { client, spec } = context;
  const direct = planned.filter(({ table }) => landsDirectly(table));
  if (direct.length > 0) await ensureSchema(client, buildSchema(spec.name));
  await runTogether(client, [
    setPath(authorsPath(spec)),
    ...planned.flatMap(({ table, staging }) => [
      dropStaging(spec.name, table.name),
      ...(landsDirectly(table) ? [] : [createStaging(spec.name, table.name, staging, persistence)]),
    ]),
    setPath([]),
  ]);
  if (direct.length > 0)
    await withPath(client, authorsPath(spec), async () => {
      for (const one of direct) await makeDirect(context, one);
    });
};

/**
 * Creates the tables to load into, and checks owners again: another role may have created a schema
 * after preflight. Errors: ETL_UNTRUSTED.
 */
export const createTrustedLandings = async (
  context: RunContext,
  planned: readonly PlannedTable[],
): Promise<void> => {
  const { client, spec, trust } = context;
  if (planned.some(({ table }) => landsDirectly(table))) {
    await createLandings(context, planned);
    await refuseOtherSchemas(client, spec.name, trust);
  } else
    await askTogether(client, () => [
      createLandings(context, planned),
      refuseOtherSchemas(client, spec.name, trust),
    ]);
};
