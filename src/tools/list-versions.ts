// Lists kept versions of a pipeline's tables.

import { keptTables } from '../ledger/production/kept.ts';
import type { KeptVersion } from '../ledger/production/upkeep.ts';
import { isThere, type Client } from '../db/client.ts';

export const listVersionsOn = async (client: Client, pipeline: string): Promise<readonly KeptVersion[]> => {
  if (!(await isThere(client, 'etl.kept_table'))) return [];
  return (await keptTables(client, pipeline)).map(
    ({ table, schema, run, replacedBy, location, rows: count, bytes, keptAt }) => ({
      table,
      schema,
      run,
      replacedBy,
      location,
      rows: count,
      bytes,
      keptAt,
    }),
  );
};
