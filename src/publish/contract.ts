// What each way of bringing rows into production says of itself and does: the port between a run and its tables.
//
// The tables of a run are published together, each by its own Publication, in one transaction. So `apply` takes all tables of
// one Publication, and what readers would feel is not executed but returned: it becomes part of one message to the server.

import type { IndexSpec } from '../declaration.ts';
import type { Client } from '../db/client.ts';
import type { BuildWhat } from '../model.ts';
import type { BuiltTable, DeclaredTable, TableNames } from './names.ts';
import type { ProductionTable } from './production.ts';
import type { BuiltState, TableColumn } from './table-state.ts';

/** A table that is built, and the one of production; undefined when it is the first. */
export interface BuiltOver {
  readonly table: BuiltTable;
  readonly builtAs: BuiltState;
  readonly production: ProductionTable | undefined;
}

/** How a table will be published. */
export interface PublishPlan extends BuiltOver {
  readonly publication: Publication;
  /** Its readers wait from `apply` to the commit, so that it comes last. */
  readonly blocksReaders: boolean;
}

/** A table aside that holds its rows, and nothing else yet. */
export interface Building {
  readonly client: Client;
  readonly names: TableNames;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  /** Announces and times a part of the work. */
  readonly making: <T>(what: BuildWhat, work: () => Promise<T>) => Promise<T>;
  readonly tell: (message: string) => void;
}

/** What `apply` leaves to do. */
export interface Rest {
  /** Called when the rows of all tables are in: a deferred foreign key may look at several of them. */
  readonly finish?: () => Promise<void>;
  /** Quoted names of production tables that the last message locks against readers. */
  readonly locked?: readonly string[];
  /** Statements of the last message, between those locks and the commit. It fails as a whole; 40001 asks for a new plan. */
  readonly last?: readonly string[];
}

export interface Publication {
  /** In etl.published_table, results and `etl status`. */
  readonly name: string;
  /** Rows go into the table that is there, and its writers wait; otherwise a table takes its place in the last message. */
  readonly writes: boolean;
  /** What the summary of a run says before the names of such tables; undefined: nothing. */
  readonly summary: string | undefined;

  /** Whether it is for such a table; of those that `publish` names, the first one that says so is chosen. */
  takes(production: ProductionTable | undefined): boolean;

  /** Before anything is loaded, where the columns are known by then, and with every plan. Errors: ETL_PUBLISH_SHAPE. */
  check(table: DeclaredTable, columns: readonly TableColumn[], production: ProductionTable): void;

  /** Makes of the rows aside what `apply` needs. Those that one `publish` chooses from share it: production may change meanwhile. */
  build(work: Building): Promise<void>;

  /** Rows that production will have at least when so many were built: what a guard judges. */
  rowsAtLeast(built: number, before: number | null): number;

  /** Whether readers have to wait from `apply` on. */
  blocksReaders(table: BuiltOver): boolean;

  /** What this costs, for the user, before it is done; undefined: nothing. */
  notice(plan: PublishPlan): string | undefined;

  /**
   * In the publishing transaction, under locks that no reader feels, or that `blocksReaders` asked for. Variants that share it, such as
   * `{ ...swap, takes }`, are applied together.
   */
  apply(client: Client, plans: readonly PublishPlan[]): Promise<Rest>;

  /**
   * Proves that a table to which `apply` was done holds what it should, and returns the rows that production has with the commit.
   * `copied` are the rows that loading sent into the table, where each of them is one of its rows. Errors: ETL_INCOMPLETE.
   */
  verify(client: Client, plan: PublishPlan, copied: number | undefined): Promise<number>;

  /** The table that will be in production with the commit. */
  oidInProduction(plan: PublishPlan): number;
}
