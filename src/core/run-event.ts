// The events of a run, and the sessions that its publication waits for.

import type { Counts, RunResult } from './model.ts';
import type { BuildWhat, RunStep } from './profile.ts';

/** A session or standby whose snapshot is older than the new tables: it would see them empty. */
export interface SnapshotHolder {
  /** Process of the session; null: a replication slot without a known connection. */
  readonly pid: number | null;
  /** Role of the session; null: not known. */
  readonly user: string | null;
  /** The session's `application_name`; null: not known. */
  readonly application: string | null;
  /** Start of the transaction or connection, ISO 8601; null: not known. */
  readonly since: string | null;
  /** True for a standby whose queries hold the snapshot, false for a session of this server. */
  readonly isStandby: boolean;
}

/** Events of a run, roughly in this order. `etl run --json` prints each as one line. */
export type RunEvent =
  | {
      /** The run is recorded, or continued. Not sent if there is nothing to do. */
      readonly type: 'started';
      /** Number of the run in etl.run. */
      readonly runId: number;
      /** Name of the pipeline that the run belongs to. */
      readonly pipeline: string;
      /** `user@host:port/database`, with ` (embedded)` after it for the embedded server. */
      readonly server: string;
      /** Number of loaders of this process. */
      readonly workers: number;
    }
  | {
      /** The files are known. */
      readonly type: 'planned';
      /** The tables of the pipeline, in declared order. */
      readonly tables: readonly {
        /** Name of the table in the pipeline. */
        readonly table: string;
        /** source: loaded from files · derived: made by SQL from other tables. */
        readonly kind: 'source' | 'derived';
        /** Number of files that the run reads for the table. */
        readonly files: number;
        /** Size of these files as stored, in bytes. */
        readonly bytes: number;
      }[];
    }
  | {
      /** A step begins. A step can begin again, for example after a lost connection. */
      readonly type: 'step';
      /** The step that begins. */
      readonly step: RunStep;
    }
  | ({
      /**
       * Totals of a table so far, at most ten times a second. They decrease if a chunk is rolled
       * back.
       */
      readonly type: 'progress';
      /** Table that is being loaded. */
      readonly table: string;
      /** Bytes of its files that were read, after decompression. */
      readonly bytes: number;
      /** Bytes of all its files; estimated for a compressed file until its end was read. */
      readonly bytesTotal: number;
    } & Counts)
  | {
      /** All files of a table are in staging. */
      readonly type: 'loaded';
      /** Table that was loaded. */
      readonly table: string;
      /** Seconds from the table's first chunk to its last. */
      readonly seconds: number;
    }
  | {
      /** A part of a new table is being built. */
      readonly type: 'building';
      /** Table that is being built. */
      readonly table: string;
      /** The part of the table. */
      readonly what: BuildWhat;
    }
  | {
      /** The user should know something, such as that rows are replaced in place. */
      readonly type: 'notice';
      /** One or a few sentences for people. */
      readonly message: string;
    }
  | {
      /** An unfinished run is continued. The counts are what the run has already loaded. */
      readonly type: 'resumed';
      /** Number of the run that is continued. */
      readonly runId: number;
      /** Chunks that are already in staging. */
      readonly chunks: number;
      /** Records of these chunks. */
      readonly records: number;
    }
  | {
      /** The server cannot be reached, and the run waits for it. */
      readonly type: 'waiting';
      /** Why the server cannot be reached. */
      readonly problem: string;
      /** Longest wait, in milliseconds. */
      readonly waitMs: number;
    }
  | {
      /**
       * Publishing waits for sessions with older snapshots. Sent again when the sessions change.
       */
      readonly type: 'snapshots';
      /** The sessions and standbys that it waits for. */
      readonly holders: readonly SnapshotHolder[];
      /** Longest wait, in milliseconds. */
      readonly waitMs: number;
    }
  | {
      /**
       * The server is back. The counts are what must be loaded again: 0 unless the server crashed.
       */
      readonly type: 'recovered';
      /** True if the server lost its unlogged tables. */
      readonly crashed: boolean;
      /** Chunks that must be loaded again. */
      readonly chunks: number;
      /** Records of these chunks. */
      readonly records: number;
    }
  | {
      /** The run has published, or had nothing to do. A run that fails does not send it. */
      readonly type: 'finished';
      /** What runPipeline returns. */
      readonly result: RunResult;
    };
