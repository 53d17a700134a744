// What a caller may say about one run; the defaults are filled in by run-pipeline.ts.

import type { ServerAddress } from '../db/address.ts';
import type { Logger } from '../logger.ts';
import type { LoadTimes, RunEvent } from '../model.ts';
import type { RedisOptions } from '../queue/redis-address.ts';

/** What our own doors say beside a caller's options. */
export interface RunHooks {
  readonly server?: ServerAddress;
  /** Job of the run queue that this run is for. */
  readonly job?: string;
  /** Hash that the definition must have. */
  readonly definition?: string;
  /** Go on with the unfinished run, also when what it was to publish stands already: it was asked for all the same. */
  readonly resume?: boolean;
  readonly onChunk?: (times: LoadTimes) => void;
}

export interface RunOptions {
  /** Connection string; without it `server`, without both PG* and DATABASE_URL of `env`. */
  readonly databaseUrl?: string;
  /** Redis for the queue; false keeps it in PostgreSQL. Default: as REDIS_URL says, and without it PostgreSQL. */
  readonly redis?: RedisOptions | false;
  /** Values for the pipeline's `params`; texts from a command line or values already parsed. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Loads that run side by side, each on a connection of its own. Default: the number of cores. */
  readonly workers?: number;
  /** Bytes of source that one transaction loads. Default: 32 MiB. */
  readonly chunkBytes?: number;
  /** File whose default export is this pipeline. With it, also a definition that holds functions is loaded in threads of
   *  its own: each imports the file again. Without it, functions run in the caller's thread. */
  readonly pipelineFile?: string;
  /** Directory that SQL files are relative to. Default: the working directory; the command line gives the pipeline file's. */
  readonly directory?: string;
  /** Directory that source globs are relative to. Default: the working directory. */
  readonly workingDirectory?: string;
  /** Abandon an unfinished run of this pipeline instead of continuing it. */
  readonly fresh?: boolean;
  /** How long to wait for a server that went away, in milliseconds. Default: five minutes. */
  readonly waitMs?: number;
  /** Load everything again even when files and definition are those of the last published run. */
  readonly fullRefresh?: boolean;
  /** Leave the staging tables after publishing, to look at them. */
  readonly keepStaging?: boolean;
  /** Gather where the time goes, into the result's `profile`; takes one more connection. */
  readonly profile?: boolean;
  /** Stops the run at once: what is in flight is rolled back. */
  readonly signal?: AbortSignal;
  /** Stops the run after the chunks in flight. Either way the next run continues it. */
  readonly drain?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
  readonly logger?: Logger;
}
