// A strategy is one way of bringing rows into production; a mode chooses among some of them.
//
// All tables of a run are published in one transaction. So `apply` takes all tables of a strategy, and
// returns the statements that readers would feel: they become one message to the server.

import type { SourceTableSpec } from '../../core/declaration/declaration.ts';
import type { Client } from '../../db/client.ts';
import type { RowChanges } from '../../core/model.ts';
import type { Building } from '../aside/building.ts';
import type { BuiltOver, Found } from '../table/built-over.ts';
import type { BuiltTable, DeclaredTable } from '../table/tables.ts';
import type { BuiltState, TableColumn } from '../table/table-state.ts';
import type { Dependent } from '../table/dependents.ts';
import type { ProductionTable } from '../table/production.ts';
import type { ViewOver } from '../table/views.ts';

/** How a table will be published. */
export interface PublishPlan extends BuiltOver {
  readonly strategy: Strategy;
  /** Why no table of the run is replaced by a new one, although nothing depends on it; undefined: new tables are allowed. */
  readonly stays?: Dependent | undefined;
  /** Undefined: nobody looked for differences, or production has changed since. */
  readonly found?: Found | undefined;
  /** Its readers wait from `apply` to the commit, so it comes last. */
  readonly blocksReaders: boolean;
}

/** Work that `apply` leaves for later. */
export interface Rest {
  /** Called when the rows of all tables are written: a deferred foreign key may look at several of them. */
  readonly finish?: () => Promise<void>;
  /** Views that the last message locks against readers, before the tables that they read. */
  readonly views?: readonly ViewOver[];
  /** Quoted names of production tables that the last message locks against readers. */
  readonly locked?: readonly string[];
  /** Other tables, of other people, that its statements themselves lock against readers. */
  readonly touched?: readonly string[];
  /** Statements of the last message, between those locks and the commit. It fails as a whole; 40001 asks for a new plan. */
  readonly last?: readonly string[];
}

export interface Strategy {
  /** In etl.published_table, results and `etl status`. */
  readonly name: string;
  /** Writes rows into the existing table, whose writers wait; otherwise a new table replaces it in the last message. */
  readonly writes: boolean;
  /** Writers wait from the beginning although a new table replaces the old one, because it contains rows of the old one. */
  readonly holdsWriters?: true;
  /** Words of a run's summary before the names of such tables. */
  readonly summary?: string;

  /** Whether it suits the table and the one in production; the first suitable one that `publish` names is chosen. */
  takes(table: DeclaredTable, production: ProductionTable | undefined, found?: Found): boolean;

  /** Of one that is chosen by what is found in the rows: whether it may be, by all that is known without them. */
  mayTake?(over: BuiltOver): boolean;

  /** What it needs to be allowed on the table in production. Missing: nothing that its owner cannot lack. */
  needs?(plan: PublishPlan): readonly ('select' | 'insert' | 'update' | 'delete')[];

  /** Called before anything is loaded, if the columns are known by then, and with every plan. Errors: ETL_PUBLISH_SHAPE. */
  check(table: DeclaredTable, columns: readonly TableColumn[], production: ProductionTable): void;

  /**
   * Called with every plan, also that of a rehearsal. Has the server make views and policies again aside, and returns those that it would
   * write differently: they keep the table. Errors: ETL_PUBLISH_SHAPE.
   */
  readonly tryAside?: (client: Client, over: BuiltOver) => Promise<readonly Dependent[]>;

  /** The fewest rows that production can have after the commit, for the guard; without `verify`, its rows. */
  rowsAtLeast(table: BuiltTable, before: number | null): number;

  /** Tells the user in advance what publishing will cost; undefined: nothing to say. */
  notice(plan: PublishPlan): string | undefined;

  /**
   * Called in the publishing transaction, under locks that do not affect readers, or those that `blocksReaders` announced. Variants that
   * share it, such as `{ ...swap, takes }`, are applied together.
   */
  apply(client: Client, plans: readonly PublishPlan[]): Promise<Rest>;

  /** Counts the rows that production will have, after `apply`. Errors: ETL_PUBLISH_WITHHELD. */
  verify?(client: Client, plan: PublishPlan, before: number | null): Promise<number>;

  /** What happened to the rows of a table, once they are verified; missing where all rows simply replace the old ones. */
  readonly changes?: (client: Client, plan: PublishPlan) => Promise<RowChanges>;

  /** The table that will be in production after the commit. */
  oidInProduction(plan: PublishPlan): number;
}

/** The strategies for all rows of a table. The first that takes the table in production is chosen. */
export interface Ways {
  /** The last takes any table. */
  readonly strategies: readonly Strategy[];
  /** Completes the table aside for any of them: production may change until one is chosen. */
  readonly complete: (work: Building) => Promise<void>;
}

/** A table aside that is to be filled from staging, a quoted name. */
export interface Filling {
  readonly client: Client;
  readonly table: SourceTableSpec;
  readonly names: DeclaredTable;
  readonly staging: string;
}

/** Rows that were built. */
export type Filled = Pick<
  BuiltTable,
  'rows' | 'rowsFrom' | 'staged' | 'deletions' | 'partitions' | 'touched'
>;

/** What SQL sees of a table to which rows of some files come, as selections. */
export interface Seen {
  readonly whole: string;
  /** The rows of the run, and those that they take the place of. */
  readonly new: string;
  readonly old: string;
}

/** The same for rows of some files. */
export interface PartWays extends Ways {
  /** `production`: the existing table, as a source of a query that has these columns. */
  readonly see: (table: BuiltTable, state: BuiltState, names: readonly string[], production: string) => Seen;
}

/** What a mode does; its meaning is in a file of its own, without SQL. */
export interface Mode {
  /** For rows of some files; undefined: no run brings them. All rows come by `allRows`, in any mode. */
  readonly part?: PartWays;
  /** What its strategies have to know about the rows: asked once, before any lock. */
  readonly look?: (client: Client, over: BuiltOver) => Promise<Found | undefined>;
  /** Fills the table aside, or finds the rows for the existing one. Called in a transaction. */
  readonly fillTable: (work: Filling) => Promise<Filled>;
}
