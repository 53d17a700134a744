// range(), list() and hash(): how the production table is divided into partitions.

import { z } from 'zod';
import {
  partitionUnits,
  type PartitionSpec,
  type PartitionUnit,
} from '../../core/declaration/declaration.ts';
import { freezeDeep } from '../freeze.ts';
import { choice, mustBe, strict, wholeNumber } from '../problems.ts';

/** Partitions as they were written; definePipeline checks them, so that problems name their table. */
export interface PartitionDefinition<Name extends string = string> {
  readonly kind: 'partitions';
  readonly column: Name;
  readonly of: object;
}

const define = <Name extends string>(column: Name, of: object): PartitionDefinition<Name> =>
  freezeDeep({ kind: 'partitions', column, of });

/** One partition for each day, week, month, quarter or year of a date or timestamp: `range('observed_at', 'month')`. */
export const range = <const Name extends string>(
  column: Name,
  unit: PartitionUnit,
): PartitionDefinition<Name> => define(column, { by: 'range', unit });

/** One partition for each value: `list('state')`. */
export const list = <const Name extends string>(column: Name): PartitionDefinition<Name> =>
  define(column, { by: 'list' });

/** So many partitions, of which a hash of the value chooses one: `hash('id', 8)`. */
export const hash = <const Name extends string>(
  column: Name,
  partitions: number,
): PartitionDefinition<Name> => define(column, { by: 'hash', partitions });

/** The rows of a table are read once for each partition. */
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
