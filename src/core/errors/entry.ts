// An entry of the error catalogue, and exit codes.

/** never: a person must act · chunk: loading the chunk again may help · run: a new run may help. */
export type RetryClass = 'never' | 'chunk' | 'run';

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  rejects: 3,
  held: 3,
  guard: 4,
  /** `etl plan --exit-code`, `etl init --strict`. */
  changes: 5,
  interrupted: 130,
  terminated: 143,
} as const;

export interface CatalogueEntry {
  /** What happened, and where: one sentence with {placeholders} for `details`. */
  readonly message: string;
  /** What was kept, and what to do next. May have {placeholders}, too. */
  readonly hint: string;
  readonly retry: RetryClass;
  readonly exit: number;
}
