// The earlier versions of a pipeline's tables that are kept.

import { keptTables } from '../../checkpoint/kept.ts';
import type { KeptVersion } from '../../checkpoint/upkeep.ts';
import type { Client } from '../../db/client.ts';

/** Those that left production last come first. A bookkeeping that is older than them has none. */
export const listVersionsOn = async (client: Client, pipeline: string): Promise<readonly KeptVersion[]> => {
  const { rows } = await client.query(`select to_regclass('etl.kept_table') is not null as "isThere"`);
  if (!rows[0].isThere) return [];
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
