// Gathers the statistics of staging tables over the coordinator's connection, while other sessions build tables of them.

import { stagingTable } from '../../db/staging.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { mayRestoreStatistics, type StagedStatistics } from '../../publish/aside/staged-statistics.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { RunContext } from '../context.ts';
import { landsDirectly } from '../../db/landing.ts';

/** Files of a table for which it pays: the server's sample is nearly as large as the largest. */
const bytesMin = 4 * 1024 * 1024;

/** Those of a table's staging table; undefined: a new table of other rows or columns needs its own. */
export type StatisticsOf = (table: string) => StagedStatistics | undefined;

const bytesOf = ({ files }: PlannedTable): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Tables that become what their staging tables are, and are large enough. */
const tablesAlike = (
  { spec, workers }: RunContext,
  planned: readonly PlannedTable[],
): readonly PlannedTable[] => {
  // As many sessions as there are workers build already. A partitioned table as a whole is analyzed here, or else after publication.
  const isBusy = spec.tables.length >= workers;
  return planned.filter(
    (one) =>
      one.intake.extent === 'whole' &&
      one.table.transform === undefined &&
      !landsDirectly(one.table) &&
      (one.table.partitionBy !== undefined || (!isBusy && bytesOf(one) >= bytesMin)),
  );
};

/** Tables of which a partition may become what the staging table is: only the rows say whether one does. */
const tablesTouched = (planned: readonly PlannedTable[]): readonly PlannedTable[] =>
  planned.filter(
    (one) =>
      one.intake.extent === 'part' &&
      meaningOf(one.table.publish).replacesPartitions === true &&
      one.table.transform === undefined &&
      !landsDirectly(one.table) &&
      bytesOf(one) >= bytesMin,
  );

/**
 * Gathers while `use` builds. A table whose turn has not come when it needs its statistics is analyzed by its own session; so is one
 * whose statistics cannot be gathered, for whatever reason.
 */
export const withStagedStatistics = async <T>(
  context: RunContext,
  planned: readonly PlannedTable[],
  use: (statisticsOf: StatisticsOf) => Promise<T>,
): Promise<T> => {
  const { client, spec } = context;
  const waiting = tablesAlike(context, planned).map(({ table }) => table.name);
  const candidates = new Set(waiting);
  const touched = new Set(tablesTouched(planned).map(({ table }) => table.name));
  const begun = new Map<string, Promise<boolean>>();
  const staging = (table: string): string => stagingTable(spec.name, table);
  let mayRestore: boolean | undefined;
  const gatherWaiting = async (): Promise<void> => {
    if (waiting.length === 0 || !(mayRestore ??= await mayRestoreStatistics(client))) return;
    for (let table = waiting.shift(); table !== undefined; table = waiting.shift()) {
      // One that somebody else analyzes has no statistics yet: then its rows are analyzed where they go.
      const analyzed = client.query(`analyze (skip_locked) ${staging(table)}`);
      begun.set(
        table,
        analyzed.then(
          () => true,
          () => false,
        ),
      );
      await analyzed;
    }
  };
  let gathering = gatherWaiting().catch(() => undefined);
  const gathered = async (table: string): Promise<boolean> => {
    const place = waiting.indexOf(table);
    if (place >= 0) waiting.splice(place, 1);
    return (await begun.get(table)) ?? false;
  };
  const begin = (table: string): void => {
    waiting.push(table);
    gathering = gathering.then(gatherWaiting).catch(() => undefined);
  };
  try {
    return await use((table) =>
      candidates.has(table) || touched.has(table)
        ? {
            staging: staging(table),
            begin: () => (touched.has(table) ? begin(table) : undefined),
            gathered: () => gathered(table),
          }
        : undefined,
    );
  } finally {
    // The connection takes one statement at a time.
    waiting.length = 0;
    await gathering;
  }
};
