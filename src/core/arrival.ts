// How files arrive, as a source declares it.

/** Which files are complete, and what happens to a file that cannot be loaded. Changes no rows. */
export interface ArrivalSpec {
  /** Seconds for which a local file must not have changed. */
  readonly settle: number;
  /** Ending of the marker file that a writer creates when a file is complete; null: no markers. */
  readonly ready: string | null;
  readonly lastLine: 'any' | 'complete';
  /** null: as the table's mode says. */
  readonly onBadFile: 'stop' | 'skip' | null;
}

export const arrivalDefault: ArrivalSpec = { settle: 2, ready: null, lastLine: 'any', onBadFile: null };
