// Builds a partitioned table in the build schema. All sessions build its partitions side by side.

import type { TableSpec } from '../../core/declaration.ts';
import { withTransaction, type Client } from '../../db/client.ts';
import { inTablespaceOf } from '../../publish/table/tablespace.ts';
import { builtName, type TableNames } from '../../db/names.ts';
import type { BuiltPartition, BuiltTable, DeclaredTable } from '../../publish/table/tables.ts';
import {
  attachAside,
  buildPartition,
  createPartitioned,
  partitionedOid,
} from '../../publish/aside/build-partitions.ts';
import { gathered, type PartitionedTable } from '../../publish/aside/find-partitions.ts';
import { findTouched } from '../../publish/modes/replace/touched.ts';
import { waysOf } from '../../publish/modes/registry.ts';
import type { BuildContext, Work } from '../context.ts';
import { plural } from '../../core/wording.ts';
import { takeStatistics, type StagedStatistics } from '../../publish/aside/staged-statistics.ts';
import type { Brought } from './derived-intake.ts';

/** Rows to build from. `source`: quoted table name. `required`: columns that are `not null`. */
export interface Rows extends Pick<PartitionedTable, 'source' | 'columns' | 'required'> {
  readonly statistics: StagedStatistics | undefined;
}

export type Task = (client: Client) => Promise<void>;

/**
 * Runs tasks in this session and in all idle sessions. After a failure no further task begins, and
 * the failure is thrown.
 */
export type Alongside = (client: Client, tasks: readonly Task[]) => Promise<void>;

type BuiltPartitions = Required<Pick<BuiltTable, 'partitions'>> &
  Pick<BuiltTable, 'rows' | 'staged' | 'touched' | 'analyzedAs'>;

const announceLeaving = (
  { report }: Work,
  { name: table }: TableSpec,
  { leaving }: NonNullable<BuiltTable['touched']>,
): void => {
  if (leaving.length === 0) return;
  const gone = leaving.reduce((sum, { rows }) => sum + rows, 0);
  const message = `${table}: ${plural(gone, 'row')} of ${plural(leaving.length, 'file')} that are no longer listed are deleted with the partitions that are replaced`;
  report.emit({ type: 'notice', message });
};

const partitionedTable = (
  { client }: Work,
  { partitionBy, primaryKey, indexes, constraints = [] }: TableSpec,
  names: TableNames,
  rows: Rows,
): PartitionedTable => ({ client, names, spec: partitionBy!, primaryKey, indexes, constraints, ...rows });

/** Creates only the partitioned table: its partitions depend on rows, and a rehearsal has none. */
export const rehearsePartitions: typeof buildPartitions = async (context, table, names, { extent }, rows) => {
  await createPartitioned(partitionedTable(context, table, names, rows));
  const touched = { keys: [], names: [], where: 'false', rows: 0, leaving: [] };
  return { partitions: [], rows: 0, staged: 0, touched: extent === 'whole' ? undefined : touched };
};

/**
 * Copies the statistics of staging, which has the same rows. Returns the table's oid, or undefined
 * if the statistics could not be copied.
 */
const analyzedWhole = async (
  client: Client,
  names: TableNames,
  statistics: StagedStatistics,
): Promise<number | undefined> =>
  (await takeStatistics(client, names, statistics)) ? partitionedOid(client, builtName(names)) : undefined;

/**
 * Builds the partitions and attaches them. Errors: those of building a table, ETL_PARTITION_KEY.
 */
export const buildPartitions = async (
  context: BuildContext,
  table: TableSpec,
  names: DeclaredTable,
  { extent, outgoing }: Brought,
  rows: Rows,
  alongside: Alongside,
): Promise<BuiltPartitions> => {
  const { client, report } = context;
  const partitioned = partitionedTable(context, table, names, rows);
  await createPartitioned(partitioned);
  const { source, parts: loaded } = await gathered(partitioned);
  const found = extent === 'whole' ? undefined : await findTouched(partitioned, loaded, outgoing);
  const { parts, touched } = found ?? { parts: loaded };
  if (touched !== undefined) announceLeaving(context, table, touched);
  const { complete } = waysOf(names);
  const announced = new Set<string>();
  const announce = (message: string): void => {
    if (announced.has(message)) return;
    announced.add(message);
    report.emit({ type: 'notice', message });
  };
  // A table with one partition has the same rows as staging, in the same order.
  const isWhole = parts.length === 1 && source === rows.source && parts[0]!.kept === undefined;
  const statistics = isWhole ? rows.statistics : undefined;
  statistics?.begin();
  const done: BuiltPartition[] = [];
  // Large partitions are built first, so that no session still has a large one at the end.
  const largestFirst = parts.toSorted((one, other) => other.rows - one.rows);
  await alongside(
    client,
    largestFirst.map((part) => async (own) => {
      const buildOne = () =>
        buildPartition(own, partitioned, { ...part, statistics }, source, complete, announce);
      done.push(await withTransaction(own, () => inTablespaceOf(own, part.names, buildOne, names)));
    }),
  );
  if (source !== rows.source) await client.query(`drop table ${source}`);
  const ordered = parts.map(({ name }) => done.find((one) => one.name === name)!);
  await attachAside(client, names, ordered);
  const built = ordered.reduce((sum, one) => sum + one.rows, 0);
  const kept = parts.reduce((sum, part) => sum + (part.kept?.rows ?? 0), 0);
  const analyzedAs =
    touched === undefined && rows.statistics !== undefined
      ? await analyzedWhole(client, names, rows.statistics)
      : undefined;
  return { partitions: ordered, touched, rows: built, staged: built - kept, analyzedAs };
};
