// SQL files and hooks that authors of pipelines write, and the arguments of hooks.

import type { Logger } from './logger.ts';

/** A SQL file: one SELECT that returns the rows of a table, or the statements of a hook. */
export interface SqlFile {
  /** Marks an SQL file, as made by sqlFile(). */
  readonly kind: 'sqlFile';
  /** Relative to the pipeline file, or absolute. */
  readonly path: string;
}

/** Names of hooks in the order in which a run calls them. */
export const hookNames = ['before', 'after', 'publishing', 'published', 'failed'] as const;
export type HookName = (typeof hookNames)[number];

/** A table as a hook sees it. The counts include the records loaded so far. */
export interface HookTable {
  /** Name of the table in the pipeline and in its schema. */
  readonly table: string;
  /** Schema of the table in production. */
  readonly schema: string;
  /** Records that were read from files: copied + rejected + filtered. */
  readonly records: number;
  /** Records that became rows. */
  readonly copied: number;
  /** Records that could not be loaded, and are listed by `etl rejects`. */
  readonly rejected: number;
  /** Records that the table's `filter` left out. */
  readonly filtered: number;
  /** Rows in production before the run; null if not known. */
  readonly rowsBefore: number | null;
  /** Rows in production after the run; null until the run is published. */
  readonly rows: number | null;
}

/** Why a run failed. */
export interface HookError {
  /** A code of docs/reference/errors.md. */
  readonly code: string;
  /** What happened, and where. */
  readonly message: string;
  /** What was kept, and what to do next. */
  readonly hint: string;
}

/** The argument of a hook that is a function. */
export interface HookContext {
  /** The hook that is called, for a function that serves several hooks. */
  readonly hook: HookName;
  /** Name of the pipeline that the run belongs to. */
  readonly pipeline: string;
  /** Number of the run in etl.run. */
  readonly runId: number;
  /** The run's parameters, as parsed by the `params` of the pipeline; empty without parameters. */
  readonly params: Readonly<Record<string, unknown>>;
  /** All tables of the pipeline, in declared order. */
  readonly tables: readonly HookTable[];
  /** Runs SQL over a connection of the hook's own, with the search_path of SQL files. */
  readonly query: (
    sql: string,
    values?: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Aborted when the run is stopped, or when the hook takes longer than `timeoutMs`. */
  readonly signal: AbortSignal;
  /** The logger that was given to the run. It is silent if none was given. */
  readonly logger: Logger;
}

/** The argument of the hook `failed`. */
export interface FailedHookContext extends Omit<HookContext, 'runId'> {
  /** null: the run failed before it had a number. */
  readonly runId: number | null;
  /** The error that ended the run. */
  readonly error: HookError;
}

export type FailedHook = SqlFile | ((context: FailedHookContext) => unknown);

export type Hook = SqlFile | ((context: HookContext) => unknown);

export interface HooksSpec {
  /** Called when the run begins to load, and again each time it is continued. */
  readonly before?: Hook | undefined;
  /** Called when all files are loaded, before tables are built. */
  readonly after?: Hook | undefined;
  /** Executed in the publishing transaction, after the tables were swapped. */
  readonly publishing?: SqlFile | undefined;
  /** Called after the run was published, at least once. */
  readonly published?: Hook | undefined;
  /** Called once after the run failed, unless the process was killed. */
  readonly failed?: FailedHook | undefined;
  /** Longest time of each hook, in milliseconds. */
  readonly timeoutMs: number;
}
