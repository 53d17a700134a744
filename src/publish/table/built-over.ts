// A built table, and the table in production that it will change or replace.

import type { Dependent } from './dependents.ts';
import type { ProductionTable } from './production.ts';
import type { BuiltState } from './table-state.ts';
import type { BuiltTable } from './tables.ts';

/** Number of production rows. `older`: ignored records; the existing row is newer. */
export type Differences = Readonly<Record<'insert' | 'update' | 'remove' | 'older', number>>;

/** Found before publishing, without a lock: other sessions may have written since. */
export interface Found {
  readonly counts: Differences;
  readonly rebuilt?: Rebuilt;
}

export interface Rebuilt {
  readonly oid: number;
  readonly built: string;
  readonly renames: readonly string[];
  readonly rows: number;
  /**
   * State of production when its rows were copied: row count, and a sum over row versions (xmin).
   */
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
  /** Views and policies that block a swap: re-created, they would be written differently. */
  readonly unlike?: readonly Dependent[];
}
