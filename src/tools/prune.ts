// Deletes old runs from the bookkeeping and, if asked for, old kept versions of tables.

import { keptTables } from '../ledger/production/kept.ts';
import { countOld, deleteOld } from '../ledger/production/prune.ts';
import type { PruneResult } from '../ledger/production/upkeep.ts';
import { migrate } from '../db/bookkeeping/migrate.ts';
import type { Client } from '../db/client.ts';
import { dropVersion } from '../run/publish/old-versions.ts';

interface PruneWanted {
  readonly before: Date;
  readonly kept: boolean;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

const dropLockMs = 5_000;

const oldVersions = async (client: Client, before: Date) => {
  const { rows } = await client.query('select distinct pipeline from etl.kept_table');
  const found = [];
  for (const { pipeline } of rows) found.push(...(await keptTables(client, pipeline)));
  return found.filter(({ keptAt }) => keptAt < before);
};

export const prune = async (
  client: Client,
  { before, kept, dryRun, signal }: PruneWanted,
): Promise<PruneResult> => {
  await migrate(client);
  const versions = kept ? await oldVersions(client, before) : [];
  const bytes = versions.reduce((sum, version) => sum + version.bytes, 0);
  if (!dryRun)
    for (const version of versions) {
      signal.throwIfAborted();
      await dropVersion(client, version, dropLockMs);
    }
  const counts = dryRun
    ? await countOld(client, before)
    : await deleteOld(client, before, () => signal.throwIfAborted());
  return { ...counts, versions: versions.length, bytes };
};
