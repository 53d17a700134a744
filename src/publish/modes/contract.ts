// Types of modes and strategies. A strategy is one way to bring rows into production; a mode
// chooses one for each table.
//
// All tables of a run are published in one transaction. So `apply` gets all tables of a strategy,
// and returns the statements that block readers: they are sent as one last query.

import type { SourceTableSpec } from '../../core/declaration.ts';
import type { Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { RowChanges } from '../../core/model.ts';
import type { Building } from '../aside/building.ts';
import type { BuiltOver, Found } from '../table/built-over.ts';
import type { BuiltTable, DeclaredTable } from '../table/tables.ts';
import type { BuiltState, TableColumn } from '../table/table-state.ts';
import type { Dependent } from '../table/dependents.ts';
import type { ProductionTable } from '../table/production.ts';
import type { ViewOver } from '../table/views.ts';

export interface PublishPlan extends BuiltOver {
  readonly strategy: Strategy;
  /** Reason to keep the table although nothing depends on it; undefined: it may be replaced. */
  readonly stays?: Dependent | undefined;
  /**
   * Differences to production; undefined if they were not computed, or production has changed
   * since.
   */
  readonly found?: Found | undefined;
  /** If true, readers wait from `apply` to the commit, and the table is written last. */
  readonly blocksReaders: boolean;
}

export interface Rest {
  /**
   * Called after the rows of all tables are written: a deferred foreign key may check several
   * tables.
   */
  readonly finish?: () => Promise<void>;
  /** Moves the new tables to production, after `finish`. Sends all its statements at once. */
  readonly move?: () => Promise<unknown>;
  /** Views that the last query locks against readers, before the tables that they read. */
  readonly views?: readonly ViewOver[];
  /** Quoted names of production tables that the last query locks against readers. */
  readonly locked?: readonly string[];
  /** Tables outside the run that the statements themselves lock against readers. */
  readonly touched?: readonly string[];
  /**
   * Statements of the last query, between locks and commit. If they fail with 40001, the run plans
   * again.
   */
  readonly last?: readonly string[];
}

export interface Strategy {
  readonly name: string;
  /** True: writes into the existing table, whose writers wait. False: a new table replaces it. */
  readonly writes: boolean;
  /**
   * True if writers are blocked from the start although the table is swapped: it contains old rows.
   */
  readonly holdsWriters?: true;
  /** Text that a run's summary shows before the names of tables with this strategy. */
  readonly summary?: string;

  /** Returns true if the strategy can publish the table. A mode's first such strategy is used. */
  takes(table: DeclaredTable, production: ProductionTable | undefined, found?: Found): boolean;

  /** Like `takes`, but judged before the differences between rows are known. */
  mayTake?(over: BuiltOver): boolean;

  /**
   * Privileges that the strategy needs on the production table; missing: an owner always has them.
   */
  needs?(plan: PublishPlan): readonly ('select' | 'insert' | 'update' | 'delete')[];

  /**
   * Refuses a table that cannot be published. Called for each plan, and if possible before loading.
   * Errors: ETL_PUBLISH_SHAPE.
   */
  check(table: DeclaredTable, columns: readonly TableColumn[], production: ProductionTable): void;

  /**
   * Creates views and policies in the build schema and rolls back. Returns those whose text would
   * change. Errors: ETL_PUBLISH_SHAPE.
   */
  readonly tryAside?: (client: Client, over: BuiltOver) => Promise<readonly Dependent[]>;

  /** Least number of rows after the commit, for the guard. Exact if there is no `verify`. */
  rowsAtLeast(table: BuiltTable, before: number | null): number;

  notice(plan: PublishPlan): string | undefined;

  /**
   * Writes the rows, under locks that block no readers unless `blocksReaders` is true. Strategies
   * that share this function, such as `{ ...swap, takes }`, are applied together.
   */
  apply(client: Client, plans: readonly PublishPlan[]): Promise<Rest>;

  /** Counts, after `apply`, the rows that production will have. Errors: ETL_PUBLISH_WITHHELD. */
  verify?(client: Client, plan: PublishPlan, before: number | null): Promise<number>;

  /** Counts the changed rows, after `verify`; missing if all rows simply replace the old ones. */
  readonly changes?: (client: Client, plan: PublishPlan) => Promise<RowChanges>;

  oidInProduction(plan: PublishPlan): number;
}

export interface Ways {
  readonly strategies: readonly Strategy[];
  /**
   * Completes a built table for any of these strategies, because the choice may still change. Asks
   * what production has, while the table gets its rows; the returned function completes it then.
   */
  readonly complete: (work: Building) => Promise<() => Promise<void>>;
}

export interface Filling {
  readonly client: Client;
  readonly table: SourceTableSpec;
  readonly names: DeclaredTable;
  readonly staging: string;
  /** Sent right after the statement that creates the table. */
  readonly whenCreated: readonly Query[];
}

export type Filled = Pick<
  BuiltTable,
  'rows' | 'rowsFrom' | 'staged' | 'deletions' | 'partitions' | 'touched' | 'taken'
>;

export interface Seen {
  readonly whole: string;
  /** `new`: rows of the run. `old`: existing rows that they replace. */
  readonly new: string;
  readonly old: string;
}

export interface PartWays extends Ways {
  /** `production`: the existing table, as a source with the columns `names`. */
  readonly see: (table: BuiltTable, state: BuiltState, names: readonly string[], production: string) => Seen;
}

/** Implements a mode. Its properties are in a separate file, `meaning.ts`, without SQL. */
export interface Mode {
  /** Missing if runs always supply all rows (`allRows`). */
  readonly part?: PartWays;
  /** Compares new rows with production, for `takes`. Called once, before any lock. */
  readonly look?: (client: Client, over: BuiltOver) => Promise<Found | undefined>;
  /**
   * Fills the new table. For an existing table, only finds the rows to write. Called in a
   * transaction.
   */
  readonly fillTable: (work: Filling) => Promise<Filled>;
}
