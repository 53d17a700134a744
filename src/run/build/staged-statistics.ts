// Analyzes staging tables over the coordinator's connection, while other sessions build tables from
// them.

import { stagingTable } from '../../db/staging.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { isDistributed } from '../../publish/table/distribution.ts';
import { mayRestoreStatistics, type StagedStatistics } from '../../publish/aside/staged-statistics.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { RunContext } from '../context.ts';
import { landsDirectly } from '../../db/landing.ts';

/** Least size for statistics of staging: ANALYZE reads nearly all of a smaller table anyway. */
const bytesMin = 4 * 1024 * 1024;

/**
 * Returns the staging table's statistics, or undefined if the new table has other rows or columns.
 */
export type StatisticsOf = (table: string) => StagedStatistics | undefined;

const bytesOf = ({ files }: PlannedTable): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

const tablesAlike = (
  { spec, workers }: RunContext,
  planned: readonly PlannedTable[],
): readonly PlannedTable[] => {
  // With as many tables as workers, every session is busy building. A partitioned table that is not
  // analyzed here is analyzed after publishing.
  const isBusy = spec.tables.length >= workers;
  return planned.filter(
    (one) =>
      one.intake.extent === 'whole' &&
      one.table.transform === undefined &&
      !landsDirectly(one.table) &&
      !isDistributed(one.table) &&
      (one.table.partitionBy !== undefined || (!isBusy && bytesOf(one) >= bytesMin)),
  );
};

/**
 * Tables of which one partition may get all rows of staging; this is not known before the rows are
 * read.
 */
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
 * Analyzes staging tables during `use`. If statistics come too late, the session that builds the
 * table analyzes it.
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
      // `skip_locked` skips a table that somebody else is analyzing.
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
    // A connection executes one statement at a time, so the last ANALYZE must end first.
    waiting.length = 0;
    await gathering;
  }
};
