// SQL files and hooks that authors of pipelines write, and the arguments of hooks.

import type { Logger } from './logger.ts';

/** A SQL file: one SELECT that returns the rows of a table, or the statements of a hook. */
export interface SqlFile {
  readonly kind: 'sqlFile';
  /** Relative to the pipeline file, or absolute. */
  readonly path: string;
}

/** Names of hooks in the order in which a run calls them. */
export const hookNames = ['before', 'after', 'publishing', 'published', 'failed'] as const;
export type HookName = (typeof hookNames)[number];

/** A table as a hook sees it. The counts include the records loaded so far. */
export interface HookTable {
  readonly table: string;
  readonly schema: string;
  readonly records: number;
  readonly copied: number;
  readonly rejected: number;
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
  readonly message: string;
  readonly hint: string;
}

/** The argument of a hook that is a function. */
export interface HookContext {
  readonly hook: HookName;
  readonly pipeline: string;
  readonly runId: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly tables: readonly HookTable[];
  /** Runs SQL over a connection of the hook's own, with the search_path of SQL files. */
  readonly query: (
    sql: string,
    values?: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Aborted when the run is stopped, or when the hook takes longer than `timeoutMs`. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** The argument of the hook `failed`. */
export interface FailedHookContext extends Omit<HookContext, 'runId'> {
  /** null: the run failed before it had a number. */
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
  /** Longest time of each hook, in milliseconds. */
  readonly timeoutMs: number;
}
