// range(), list() and hash(): declare how the production table is partitioned.

import { z } from 'zod';
import { partitionUnits, type PartitionSpec, type PartitionUnit } from '../../core/declaration.ts';
import { freezeDeep } from '../freeze.ts';
import { choice, mustBe, strict, wholeNumber } from '../problems.ts';

/**
 * Declared partitioning, unchecked: definePipeline checks it, so that errors can name the table.
 */
export interface PartitionDefinition<Name extends string = string> {
  /** Marks a partitioning, as made by range(), list() or hash(). */
  readonly kind: 'partitions';
  /** Column whose values choose the partition. */
  readonly column: Name;
  /** How the values are divided: by time, by value or by hash. */
  readonly of: object;
}

const define = <Name extends string>(column: Name, of: object): PartitionDefinition<Name> =>
  freezeDeep({ kind: 'partitions', column, of });

/**
 * Partitions by time, with one partition for each day, week, month, quarter or year of a date or
 * timestamp column: `range('observed_at', 'month')`. Values with a time zone are partitioned in
 * UTC.
 */
export const range = <const Name extends string>(
  column: Name,
  unit: PartitionUnit,
): PartitionDefinition<Name> => define(column, { by: 'range', unit });

/** Partitions by value, with one partition for each value of the column: `list('state')`. */
export const list = <const Name extends string>(column: Name): PartitionDefinition<Name> =>
  define(column, { by: 'list' });

/** Partitions by a hash of the column into a fixed number, at most 100: `hash('id', 8)`. */
export const hash = <const Name extends string>(
  column: Name,
  partitions: number,
): PartitionDefinition<Name> => define(column, { by: 'hash', partitions });

/** Bounded, because building the table reads its staged rows once for each partition. */
const partitionsMax = 100;
const what = "range('column', 'month'), list('column') or hash('column', 8)";

const ofSchema = z.discriminatedUnion('by', [
  strict({ by: z.literal('range'), unit: choice(partitionUnits) }),
  strict({ by: z.literal('list') }),
  strict({
    by: z.literal('hash'),
    partitions: wholeNumber(`a number of partitions from 1 to ${partitionsMax}`, 1, partitionsMax),
  }),
]);

export const partitionBySchema = strict(
  { kind: z.literal('partitions', mustBe(what)), column: z.string(mustBe('a column name')), of: ofSchema },
  what,
).transform(({ column, of }): PartitionSpec => ({ column, ...of }));
