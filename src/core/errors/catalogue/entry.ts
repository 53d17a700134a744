// What the catalogue says of an error code, and the exit codes it may name.

/** never: a person must act · chunk: load the same chunk again · run: run again, later. */
export type RetryClass = 'never' | 'chunk' | 'run';

/** Exit codes of the command line; docs/reference/cli.md explains them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  rejects: 3,
  guard: 4,
  changes: 5,
  interrupted: 130,
  terminated: 143,
} as const;

export interface CatalogueEntry {
  /** One sentence with {placeholders} that the thrower fills in. */
  readonly message: string;
  /** What the user can do about it; may hold {placeholders} too. */
  readonly hint: string;
  readonly retry: RetryClass;
  readonly exit: number;
}
