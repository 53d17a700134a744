// Versions kept from earlier runs, and the result of deleting them. Types only, because the library exports them.

/** An earlier version of a table, out of production. */
export interface KeptVersion {
  readonly table: string;
  readonly schema: string;
  /** The run that loaded it, and the one that replaced it; 0: it was there before the first run. */
  readonly run: number;
  readonly replacedBy: number;
  /** Where it is, as SQL writes it. */
  readonly location: string;
  /** As its run recorded them; null: it was not published by one. */
  readonly rows: number | null;
  /** On disk, with its indexes. */
  readonly bytes: number;
  readonly keptAt: Date;
}

/** What was deleted, or would be. */
export interface Pruned {
  readonly runs: number;
  readonly files: number;
  readonly chunks: number;
  readonly rejects: number;
  /** Failures before a run began. */
  readonly failures: number;
}

/** What `etl prune` deleted, or would delete: versions of tables and their bytes as well. */
export interface PruneResult extends Pruned {
  readonly versions: number;
  readonly bytes: number;
}
