// Creates partitions that new rows need and the production table lacks.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import type { BuiltOver } from '../table/built-over.ts';
import { productionName } from '../../db/names.ts';
import { alterPart } from './changes.ts';
import { keyOfBound } from '../table/bounds.ts';
import { findPartitions } from '../aside/find-partitions.ts';
import { refuseTaken } from './fit-partitions.ts';

/** Leaves out foreign keys and triggers, which attaching the partition adds. */
const likeTable = ['defaults', 'generated', 'constraints', 'indexes', 'storage']
  .map((what) => `including ${what}`)
  .join(' ');

/**
 * Creates missing partitions. Must be called before rows are written through the table. Creating
 * and attaching an empty partition blocks neither readers nor writers. Errors: ETL_PARTITION_KEY,
 * ETL_PUBLISH_SHAPE.
 */
export const ensurePartitions = async (client: Client, plan: BuiltOver): Promise<void> => {
  const { table, production } = plan;
  const { partitionBy: spec } = table;
  if (spec === undefined) return;
  const name = productionName(table);
  const known = new Set(production!.partitioning!.partitions.map(({ bound }) => keyOfBound(spec, bound)));
  const needed = table.partitions ?? (await findPartitions(client, table, spec, table.rowsFrom, name));
  const missing = needed.filter(({ key }) => !known.has(key));
  if (missing.length === 0) return;
  const added = missing.map(({ names }) => ({ table: names }));
  await refuseTaken(client, [{ plan, added, removed: [] }]);
  const owner = production!.owner === null ? '' : quoteName(production!.owner);
  await client.query(
    missing
      .map(({ names, bound }) => {
        const part = productionName(names);
        return `create table ${part} (like ${name} ${likeTable});
          ${owner === '' ? '' : `alter table ${part} owner to ${owner};`}
          alter table ${name} attach partition ${part} ${bound};`;
      })
      .join('\n'),
  );
  if (table.attributes !== undefined)
    for (const { names } of missing) await alterPart(client, productionName(names), table);
};
