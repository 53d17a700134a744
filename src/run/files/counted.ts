// Files in short. The library's types lead here, so it imports nothing.

/** Some files: how many, and the names of the first. */
export interface Counted {
  readonly count: number;
  readonly names: readonly string[];
}
