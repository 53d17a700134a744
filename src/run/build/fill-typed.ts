// Fills a typed table aside: with the rows of staging, or with what its mode makes of them.

import type { SourceTableSpec } from '../../core/declaration/declaration.ts';
import { runQuery } from '../../db/client.ts';
import { landsDirectly } from '../../db/landing.ts';
import { stagingTable } from '../../db/staging.ts';
import { setNotNull } from '../../publish/aside/build-table.ts';
import type { Filled } from '../../publish/modes/contract.ts';
import { modeOf } from '../../publish/modes/registry.ts';
import { publishedColumns, type DeclaredTable } from '../../publish/table/tables.ts';
import type { BuildContext } from '../context.ts';

/** Rows of a typed table, from staging, unless they were loaded straight into it, or go from there into production. */
export const fillTyped = async (
  { client, spec }: BuildContext,
  table: SourceTableSpec,
  names: DeclaredTable,
): Promise<Filled> => {
  const staging = stagingTable(spec.name, table.name);
  const filled = await modeOf(names).fillTable({ client, table, names, staging });
  const required = publishedColumns(table).filter(({ nullable }) => !nullable);
  if (required.length > 0 && !landsDirectly(table))
    await runQuery(
      client,
      setNotNull(
        names,
        required.map(({ name }) => name),
      ),
    );
  return filled;
};
