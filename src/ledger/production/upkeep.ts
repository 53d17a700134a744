// Types for the library: kept versions of tables, and the result of deleting them.

/** An earlier version of a table, no longer in production. */
export interface KeptVersion {
  /** Name of the table in the pipeline. */
  readonly table: string;
  /** Schema of the table in production; the version itself is in another one, see `location`. */
  readonly schema: string;
  /** The run that loaded the version; 0: it existed before the first run. */
  readonly run: number;
  /** The run whose version replaced this one in production. */
  readonly replacedBy: number;
  /** The version's name in SQL, with its schema. */
  readonly location: string;
  /** Number of rows, as its run recorded; null: no run published it. */
  readonly rows: number | null;
  /** Size on disk, with its indexes. */
  readonly bytes: number;
  /** When the version was replaced. */
  readonly keptAt: Date;
}

export interface Pruned {
  /** Number of runs. */
  readonly runs: number;
  /** Number of records of files that these runs read; the files themselves are not touched. */
  readonly files: number;
  /** Number of rows of etl.chunk. */
  readonly chunks: number;
  /** Number of rejected records. */
  readonly rejects: number;
  /** Failures before a run started. */
  readonly failures: number;
}

/** What `etl prune` deleted, or would delete, including versions of tables and their bytes. */
export interface PruneResult extends Pruned {
  /** Number of kept versions of tables; 0 without `kept`. */
  readonly versions: number;
  /** Size of these versions on disk, in bytes. */
  readonly bytes: number;
}
