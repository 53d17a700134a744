// Types for the library: kept versions of tables, and the result of deleting them.

/** An earlier version of a table, no longer in production. */
export interface KeptVersion {
  readonly table: string;
  readonly schema: string;
  /** The run that loaded the version; 0: it existed before the first run. */
  readonly run: number;
  readonly replacedBy: number;
  /** The version's name in SQL, with its schema. */
  readonly location: string;
  /** Number of rows, as its run recorded; null: no run published it. */
  readonly rows: number | null;
  /** Size on disk, with its indexes. */
  readonly bytes: number;
  readonly keptAt: Date;
}

export interface Pruned {
  readonly runs: number;
  readonly files: number;
  readonly chunks: number;
  readonly rejects: number;
  /** Failures before a run started. */
  readonly failures: number;
}

/** What `etl prune` deleted, or would delete, including versions of tables and their bytes. */
export interface PruneResult extends Pruned {
  readonly versions: number;
  readonly bytes: number;
}
