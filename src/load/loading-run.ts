// What loading needs of a run.

import type { NewFile } from '../ledger/run/ledger.ts';
import type { StagingColumn } from '../db/staging.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import type { Client } from '../db/client.ts';
import type { PipelineSpec, SourceTableSpec } from '../core/declaration/declaration.ts';
import type { Lease, SourceFile } from '../core/model.ts';
import type { Queues } from '../queue/job-queue.ts';
import type { Stops } from '../core/stop.ts';
import type { PipelineFile } from '../pipeline/definition.ts';
import type { Reporter } from '../report/report.ts';

/** A table that is loaded from files: those that the run reads, and what staging looks like. */
export interface LoadedTable {
  readonly table: SourceTableSpec;
  readonly files: readonly NewFile[];
  readonly staging: readonly StagingColumn[];
}

/** The files and tables of a run, and the right to load them. */
export interface LoadingRun {
  readonly lease: Lease;
  readonly files: readonly SourceFile[];
  readonly planned: readonly LoadedTable[];
}

/** What a process loads with. */
export interface LoadWork extends Stops {
  readonly client: Client;
  readonly spec: PipelineSpec;
  readonly address: ServerAddress;
  readonly queues: Queues;
  /** Where loading threads find the functions of the definition. */
  readonly file: PipelineFile | undefined;
  readonly jobId: string | undefined;
  readonly workers: number;
  readonly chunkBytes: number;
  readonly report: Pick<Reporter, 'emit' | 'segment' | 'trace'>;
}
