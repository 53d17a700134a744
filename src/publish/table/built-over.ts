// A table that was built, over the one in production.

import type { Dependent } from './dependents.ts';
import type { ProductionTable } from './production.ts';
import type { BuiltState } from './table-state.ts';
import type { BuiltTable } from './tables.ts';

/** Rows of production that a run changes, by what happens to them. Older records lose against the existing row. */
export type Differences = Readonly<Record<'insert' | 'update' | 'remove' | 'older', number>>;

/** What was found before publishing, without a lock: somebody may have written to production since. */
export interface Found {
  readonly counts: Differences;
  /** The table that was built from production's rows and the run's. */
  readonly rebuilt?: Rebuilt;
}

export interface Rebuilt {
  readonly oid: number;
  /** Its name in the build schema, and statements that give its indexes their names. */
  readonly built: string;
  readonly renames: readonly string[];
  readonly rows: number;
  /** Production when it was read: the number of its rows, and a sum over their versions. */
  readonly read: ReadState;
}

export interface ReadState {
  readonly rows: number;
  readonly versions: string;
}

/** A built table, and the production table; undefined when there is none yet. */
export interface BuiltOver {
  readonly table: BuiltTable;
  readonly builtAs: BuiltState;
  readonly production: ProductionTable | undefined;
  /** Views and policies that keep the table: the server would write them differently if they were made again. */
  readonly unlike?: readonly Dependent[];
}
