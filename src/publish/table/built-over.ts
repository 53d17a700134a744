// A built table, and the table in production that it will change or replace.

import type { Dependent } from './dependents.ts';
import type { ProductionTable } from './production.ts';
import type { BuiltState } from './table-state.ts';
import type { BuiltTable } from './tables.ts';

/**
 * Numbers of rows to write. `older`: records that are ignored, because the existing row is newer.
 */
export type Differences = Readonly<Record<'insert' | 'update' | 'remove' | 'older', number>>;

/** Differences found before publishing, without a lock. Other sessions may have written since. */
export interface Found {
  readonly counts: Differences;
  readonly rebuilt?: Rebuilt;
}

export interface Rebuilt {
  readonly oid: number;
  readonly built: string;
  readonly renames: readonly string[];
  readonly rows: number;
  /** Production when its rows were copied: number of rows, and a sum over their versions (xmin). */
  readonly read: ReadState;
}

export interface ReadState {
  readonly rows: number;
  readonly versions: string;
}

export interface BuiltOver {
  readonly table: BuiltTable;
  readonly builtAs: BuiltState;
  readonly production: ProductionTable | undefined;
  /**
   * Views and policies that prevent a swap, because their text would change if they were created
   * again.
   */
  readonly unlike?: readonly Dependent[];
}
