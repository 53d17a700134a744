// Checks production before anything is loaded: what publishing would refuse, and attributes that
// the server would refuse.

import { probeAttributes } from '../../publish/aside/probe.ts';
import { checkTargets as checkProduction } from '../../publish/commit/plan.ts';
import type { ProductionTable } from '../../publish/table/production.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { Work } from '../context.ts';
import { landingTable } from '../../db/landing.ts';
import { declaredAs } from '../../publish/modes/declared.ts';

/**
 * Checks all targets. The columns of tables that SQL makes are not known yet; they are checked when
 * the tables are built. Returns what is in production, by table name. Errors: ETL_PUBLISH_SHAPE,
 * ETL_PUBLISH_REFUSED, ETL_ATTRIBUTE_REFUSED.
 */
export const checkTargets = async (
  { client, spec }: Work,
  planned: readonly PlannedTable[],
): Promise<ReadonlyMap<string, ProductionTable | undefined>> => {
  const targets = spec.tables.map((table) => {
    const extent = planned.find((one) => one.table === table)?.intake.extent ?? 'whole';
    const hasColumns = table.kind === 'source' && table.transform === undefined;
    const like = hasColumns ? landingTable(spec, table) : undefined;
    return { table: declaredAs(spec, table, extent), like };
  });
  const found = await checkProduction(client, targets);
  for (const { table, like } of targets) await probeAttributes(client, table, like);
  return new Map(targets.map(({ table }, index) => [table.table, found[index]]));
};
