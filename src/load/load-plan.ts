// Makes the plan with which loaders load a run.

import { landingTable } from '../db/landing.ts';
import type { StagingColumn } from '../db/staging.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import type { Client } from '../db/client.ts';
import {
  tableOfFile,
  type PipelineSpec,
  type RejectLimit,
  type SourceTableSpec,
} from '../core/declaration.ts';
import { streamChunkBytesAlone, streamChunkBytesMax } from '../core/limits.ts';
import type { Lease, SourceFile } from '../core/model.ts';
import type { Stops } from '../core/stop.ts';
import type { Queues } from '../queue/job-queue.ts';
import type { PipelineFile } from '../pipeline/definition.ts';
import type { Reporter } from '../report/report.ts';

/** What all loaders of a run share, as plain data, because each thread gets a clone. */
export interface LoadPlan {
  readonly pipeline: string;
  readonly address: ServerAddress;
  readonly lease: Lease;
  readonly chunkBytes: number;
  readonly streamChunkBytes: number;
  readonly rejectLimit: RejectLimit | undefined;
  /** A thread imports the definition's functions from this file, because they cannot be cloned. */
  readonly file: PipelineFile | undefined;
  readonly tables: readonly {
    readonly table: SourceTableSpec;
    readonly staging: readonly StagingColumn[];
    readonly target: string;
  }[];
}

export interface LoadWork extends Stops {
  readonly client: Client;
  readonly queues: Queues;
  readonly jobId: string | undefined;
  readonly workers: number;
  readonly report: Pick<Reporter, 'emit' | 'segment' | 'trace'>;
}

export const makeLoadPlan = (
  context: Pick<LoadPlan, 'address' | 'chunkBytes' | 'file'> & {
    readonly spec: PipelineSpec;
    readonly workers: number;
  },
  lease: Lease,
  planned: readonly Omit<LoadPlan['tables'][number], 'target'>[],
): LoadPlan => {
  const { spec, address, chunkBytes, file, workers } = context;
  const { config, label, sessionName } = address;
  return {
    pipeline: spec.name,
    address: { config, label, sessionName },
    lease,
    chunkBytes,
    // A single worker waits for each commit, so its chunks may be as large as four workers' chunks.
    streamChunkBytes: workers === 1 ? streamChunkBytesAlone : streamChunkBytesMax,
    rejectLimit: spec.rejectLimit,
    file,
    tables: planned.map(({ table, staging }) => ({ table, staging, target: landingTable(spec, table) })),
  };
};

export const loadedTable = ({ tables }: LoadPlan, file: SourceFile) => {
  const { table, ...rest } = tables.find((one) => one.table.name === file.table)!;
  return { ...rest, table: tableOfFile(table, file) };
};
