// SQL files and hooks: the code that authors of pipelines write, and the arguments of hooks.

import type { Logger } from '../logger.ts';

/** SQL kept in a file: one SELECT that gives the rows of a table, or the statements of a hook. */
export interface SqlFile {
  readonly kind: 'sqlFile';
  /** Relative to the pipeline file, or absolute. */
  readonly path: string;
}

/** Hooks, in the order of a run. */
export const hookNames = ['before', 'after', 'publishing', 'published', 'failed'] as const;
export type HookName = (typeof hookNames)[number];

/** A table as a hook sees it: what was loaded so far, and its rows once the run is published. */
export interface HookTable {
  readonly table: string;
  readonly schema: string;
  readonly records: number;
  readonly copied: number;
  readonly rejected: number;
  readonly filtered: number;
  readonly rowsBefore: number | null;
  readonly rows: number | null;
}

/** Why a run failed. */
export interface HookError {
  /** docs/reference/errors.md */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** What a hook that is a function is given. */
export interface HookContext {
  readonly hook: HookName;
  readonly pipeline: string;
  readonly runId: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly tables: readonly HookTable[];
  /** Asks the run's server, over a connection that is the hook's own, with the search_path of SQL files. */
  readonly query: (
    sql: string,
    values?: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Aborted when the run is stopped, or the hook takes too long. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** The same after a failure. */
export interface FailedHookContext extends Omit<HookContext, 'runId'> {
  /** null: it failed before there was a run. */
  readonly runId: number | null;
  readonly error: HookError;
}

export type FailedHook = SqlFile | ((context: FailedHookContext) => unknown);

export type Hook = SqlFile | ((context: HookContext) => unknown);

export interface HooksSpec {
  readonly before?: Hook | undefined;
  readonly after?: Hook | undefined;
  readonly publishing?: SqlFile | undefined;
  readonly published?: Hook | undefined;
  readonly failed?: FailedHook | undefined;
  readonly timeoutMs: number;
}
