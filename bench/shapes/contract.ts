// A shape: a table as people have it, with files of any size. One file a shape, which is also the pipeline that sluice runs; all are
// listed in shapes.ts.

import type { Pipeline } from 'sluice';
import { z } from 'zod';
import type { FileKind } from '../generate.ts';
import type { Random } from '../random.ts';

/** Of every shape's pipeline: `staging=none` leaves staging out. */
export const params = z.object({ staging: z.enum(['typed', 'none']).default('typed') });

export interface Shape {
  /** Of its file; its pipeline and schema are `bench_<name>`, its table is `<name>`. */
  readonly name: string;
  /** What the files contain that costs time. */
  readonly title: string;
  /** What its file exports as a pipeline. */
  readonly pipeline: Pipeline;
  readonly files: FileKind;
  /** Where casts by hand are faster than those that are derived from the columns. */
  readonly script?: PsqlScript;
  readonly night?: Night;
}

/** How records that come in a night differ from those that are there, for shapes that a night is put to. */
export interface Night {
  readonly key: readonly string[];
  /** Columns beside the key. */
  readonly others: readonly string[];
  /** A line with the same key and another value. */
  readonly change: (line: string) => string;
  /** A line with a key that is not there. */
  readonly renew: (line: string, random: Random) => string;
}

/** Columns of a table beside its key. */
export const othersOf = (columns: object, key: readonly string[]): readonly string[] =>
  Object.keys(columns).filter((name) => !key.includes(name));

/** Two `\copy` side by side, then a logged table with its key and indexes, analyzed. Nothing in it is slower than it needs to be. */
export interface PsqlScript {
  /** Settings of every session, such as the order of day and month. */
  readonly settings?: string;
  /** Options of `\copy`. */
  readonly copy: string;
  /** Columns of the tables that `\copy` fills: with their types as far as the server can read the fields, else text. */
  readonly loaded: string;
  /** Select list over these columns that makes the rows; without it, they are the rows. */
  readonly casts?: string;
  /** Statements that add keys and indexes to the table `$`. */
  readonly finish: readonly string[];
}
