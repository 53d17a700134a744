// Counted files. The library's public types use this module, so it imports nothing.

/** Number of files, and the names of the first ones. */
export interface Counted {
  readonly count: number;
  readonly names: readonly string[];
}
