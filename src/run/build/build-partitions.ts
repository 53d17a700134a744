// Builds a divided table aside: its partitions side by side, over all sessions of the build.

import type { Extent, TableSpec } from '../../declaration.ts';
import { withTransaction } from '../../db/client.ts';
import type { BuiltPartition, TableNames } from '../../publish/names.ts';
import {
  attachAside,
  buildPartition,
  createDivided,
  gathered,
  type Dividing,
} from '../../publish/partitions/build.ts';
import { buildFor, modeOf } from '../../publish/registry.ts';
import type { RunContext } from '../context.ts';
import type { Alongside } from './build-side-by-side.ts';

/** The rows of a table, in another one: its quoted name, the columns that are wanted, and those of them that are not null. */
export type Rows = Pick<Dividing, 'source' | 'columns' | 'required'>;

/** Errors: those of building a table, ETL_PARTITION_KEY. */
export const buildPartitions = async (
  { client, report }: RunContext,
  table: TableSpec,
  names: TableNames,
  extent: Extent,
  rows: Rows,
  alongside: Alongside,
): Promise<readonly BuiltPartition[]> => {
  const { primaryKey, indexes, constraints = [], publish } = table;
  const dividing = { client, names, spec: table.partitionBy!, primaryKey, indexes, constraints, ...rows };
  await createDivided(dividing);
  const { source, parts } = await gathered(dividing);
  const build = buildFor(modeOf(publish), extent);
  const told = new Set<string>();
  const tell = (message: string): void => {
    if (told.has(message)) return;
    told.add(message);
    report.emit({ type: 'notice', message });
  };
  const built: BuiltPartition[] = [];
  // The largest first: what is left for the end is small.
  const largestFirst = parts.toSorted((one, other) => other.rows - one.rows);
  await alongside(
    client,
    largestFirst.map((part) => async (own) => {
      built.push(await withTransaction(own, () => buildPartition(own, dividing, part, source, build, tell)));
    }),
  );
  if (source !== rows.source) await client.query(`drop table ${source}`);
  const ordered = parts.map(({ name }) => built.find((one) => one.name === name)!);
  await attachAside(client, names, ordered);
  return ordered;
};
