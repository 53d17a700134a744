// Checks that production is partitioned as declared, and whether its partitions may be replaced.

import type { Client } from '../../db/client.ts';
import { productionName } from '../../db/names.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import type { PartitionSpec } from '../../core/declaration.ts';
import type { DeclaredTable } from './tables.ts';
import { dependentsText, isForReaders, keptForReaders, type Dependent } from './dependents.ts';
import type { ProductionTable } from './production.ts';
import { isOthers } from './fitting.ts';
import { movingAway, refuseShape } from './shape.ts';
import { keyOfBound } from './bounds.ts';
import { partitioningOf, type FoundPartitioning } from './partitioning.ts';

/** Kinds of dependents that would not notice rows of a partition when it is attached. */
const rowKeepers = new Set([
  'foreign key',
  'foreign key to',
  'trigger',
  'rule',
  'publication',
  'extension',
  'access method',
  'security label',
  'TimescaleDB',
  'Citus',
  ...keptForReaders,
]);

const rowKeepersOf = ({
  oid,
  dependents,
  constraints,
  partitioning,
}: ProductionTable): readonly Dependent[] => [
  ...dependents.filter(({ kind }) => rowKeepers.has(kind)),
  // Attaching a partition changes a foreign key from the table to itself.
  ...constraints.flatMap(({ on, name }) => (on === oid ? [{ kind: 'foreign key', name }] : [])),
  ...(partitioning?.partitions ?? []).flatMap((partition) => partition.dependents),
];

export const mustKeepRows = (production: ProductionTable | undefined): boolean =>
  production !== undefined && rowKeepersOf(production).length > 0;

/**
 * Reasons to keep a table. For a partitioned table, views, policies and partitions are none.
 * Reasons about readers are named only if there is no other.
 */
export const inPlaceReasons = ({ partitionBy }: DeclaredTable, production: ProductionTable): string => {
  const reasons = partitionBy === undefined ? production.dependents : rowKeepersOf(production);
  const own = reasons.filter((reason) => !isForReaders(reason));
  return dependentsText(own.length > 0 ? own : reasons);
};

const declaredText = (spec: PartitionSpec): string => {
  if (spec.by === 'range') return `range('${spec.column}', '${spec.unit}')`;
  return spec.by === 'list' ? `list('${spec.column}')` : `hash('${spec.column}', ${spec.partitions})`;
};

const refuseSeveralTexts = (table: string, { columns, type, hasOneText }: FoundPartitioning): void => {
  if (!hasOneText)
    refuseShape(
      table,
      `it would be partitioned by the values of ${columns[0]}, which is ${type}: equal values may be written differently, such as 1.0 and 1.00`,
      'Partition it by hash, or by a column of another type; a numeric needs a scale.',
    );
};

export const refuseUnpartitionable = async (client: Client, table: string, made: string): Promise<void> => {
  const { rows } = await client.query<{ partitioning: FoundPartitioning }>(
    `select ${partitioningOf(`${quoteText(made)}::regclass`)} as partitioning`,
  );
  refuseSeveralTexts(table, rows[0]!.partitioning);
};

/** Refuses a table that is not partitioned as declared. Errors: ETL_PUBLISH_SHAPE. */
export const refuseOtherPartitioning = (table: DeclaredTable, production: ProductionTable): void => {
  const { partitionBy: spec } = table;
  if (spec === undefined) return;
  const name = `${table.schema}.${table.table}`;
  const { partitioning } = production;
  const again = isOthers(production)
    ? partitioning === undefined
      ? 'Remove partitionBy.'
      : 'Declare partitionBy as the table is partitioned.'
    : `Change partitionBy; or ${movingAway(table, production)}.`;
  if (partitioning === undefined)
    return refuseShape(
      table.table,
      `${name} has no partitions, and partitionBy is ${declaredText(spec)}`,
      again,
    );
  if (partitioning.by !== spec.by || partitioning.columns.join('\0') !== spec.column)
    refuseShape(
      table.table,
      `${name} is partitioned by ${partitioning.text}, and partitionBy is ${declaredText(spec)}`,
      again,
    );
  if (spec.by === 'list') refuseSeveralTexts(table.table, partitioning);
  for (const { schema, name: part, bound, kind } of partitioning.partitions) {
    const refuse = (what: string): never =>
      refuseShape(
        table.table,
        `its partition ${schema}.${part} ${what}`,
        isOthers(production)
          ? 'Remove partitionBy; with append or merge, the server finds the partition of each row.'
          : `Detach it: \`alter table ${productionName(table)} detach partition ${quoteName(schema, part)}\`.`,
      );
    if (keyOfBound(spec, bound) === undefined)
      refuse(`is for ${bound.replace(/^FOR VALUES/, 'values')}, which ${declaredText(spec)} does not make`);
    if (kind !== 'r') refuse('is not a plain table');
    if (schema !== table.schema) refuse(`is not in schema ${table.schema}`);
  }
};
