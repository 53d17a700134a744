// Gathers the statistics of staging tables over the coordinator's connection, while other sessions
// build tables from them.

import { stagingTable } from '../../db/staging.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { mayRestoreStatistics, type StagedStatistics } from '../../publish/aside/staged-statistics.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { RunContext } from '../context.ts';
import { landsDirectly } from '../../db/landing.ts';

/**
 * Minimum size of a table's files: of a smaller table, the server's sample would be nearly the
 * whole table.
 */
const bytesMin = 4 * 1024 * 1024;

/**
 * Returns the statistics of a table's staging; undefined if the new table has other rows or
 * columns, and needs its own statistics.
 */
export type StatisticsOf = (table: string) => StagedStatistics | undefined;

const bytesOf = ({ files }: PlannedTable): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the tables that get exactly the rows of their staging tables, and are large enough. */
const tablesAlike = (
  { spec, workers }: RunContext,
  planned: readonly PlannedTable[],
): readonly PlannedTable[] => {
  // With as many tables as workers, every session is busy building. A partitioned table that is
  // built as a whole is analyzed here, or else after publication.
  const isBusy = spec.tables.length >= workers;
  return planned.filter(
    (one) =>
      one.intake.extent === 'whole' &&
      one.table.transform === undefined &&
      !landsDirectly(one.table) &&
      (one.table.partitionBy !== undefined || (!isBusy && bytesOf(one) >= bytesMin)),
  );
};

/**
 * Returns the tables of which a partition may get exactly the rows of staging, which only the rows
 * show.
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
 * Gathers statistics while `use` builds. A table that needs its statistics before its turn is
 * analyzed by its own session. So is a table whose statistics cannot be gathered for any reason.
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
      // A table that somebody else is analyzing has no statistics yet. It is skipped, and its rows
      // are analyzed in the new table.
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
    // The connection executes one statement at a time, so gathering has to end first.
    waiting.length = 0;
    await gathering;
  }
};
