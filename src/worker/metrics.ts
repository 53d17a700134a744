// A worker's metrics for Prometheus.

import type { Gauge, Registry } from 'prom-client';
import { chunkSecondsBuckets } from '../core/limits.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { LoadTimes } from '../core/profile.ts';
import type { RunQueueDepths } from '../queue/run-queue-state.ts';
import { createAsker, loadPromClient } from './scrape.ts';

export interface WorkerMetrics {
  readonly registry: Registry;
  /** `outcome`: `published`, `unchanged` or an error code. */
  readonly runEnded: (pipeline: string, outcome: string) => void;
  readonly hear: (pipeline: string, event: RunEvent) => void;
  readonly chunkLoaded: (pipeline: string, times: LoadTimes) => void;
}

const addQueueGauges = (registers: Registry[], askQueue: () => Promise<RunQueueDepths | undefined>): void => {
  const queueGauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    add: (made: Gauge<Label>, of: RunQueueDepths['queues'][number]) => void,
  ): void => {
    const made: Gauge<Label> = new (loadPromClient().Gauge)({
      name,
      help,
      labelNames,
      registers,
      collect: async () => {
        const queues = (await askQueue())?.queues ?? [];
        made.reset();
        for (const each of queues) add(made, each);
      },
    });
  };
  queueGauge('sluice_queue_jobs', 'Runs on the queue', ['queue', 'state'], (made, of) => {
    const { queue, waiting, delayed, active, failed } = of;
    for (const [state, jobs] of Object.entries({ waiting, delayed, active, failed }))
      made.set({ queue, state }, jobs);
  });
  queueGauge('sluice_queue_paused', 'Whether the queue is paused', ['queue'], (made, { queue, isPaused }) =>
    made.set({ queue }, isPaused ? 1 : 0),
  );
};

/** Calls `readQueue` at every scrape until `over` is aborted. */
export const createMetrics = (
  readQueue: () => Promise<RunQueueDepths>,
  isWell: () => boolean,
  over: AbortSignal,
  given?: Registry,
): WorkerMetrics => {
  const prometheus = loadPromClient();
  const registry = given ?? new prometheus.Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new prometheus.Counter({ name, help, labelNames, registers });
  const runs = counter('sluice_runs_total', 'Runs that this worker coordinated', 'pipeline', 'outcome');
  const bytes = counter('sluice_bytes_total', 'Bytes of source files in published runs', 'pipeline');
  const records = counter('sluice_records_total', 'Records in published runs', 'pipeline', 'result');
  const crashes = counter('sluice_crashes_total', 'Crashes of the server seen by runs', 'pipeline');
  const replays = counter('sluice_replayed_chunks_total', 'Chunks loaded again after a crash', 'pipeline');
  const chunks = new prometheus.Histogram({
    name: 'sluice_chunk_seconds',
    help: 'Time from the first byte of a chunk to its commit, for this worker’s chunks',
    labelNames: ['pipeline'] as const,
    buckets: [...chunkSecondsBuckets],
    registers,
  });
  addQueueGauges(registers, createAsker(readQueue, over, isWell));
  return {
    registry,
    runEnded: (pipeline, outcome) => runs.inc({ pipeline, outcome }),
    chunkLoaded: (pipeline, { read, decode, copy, ledger }) =>
      chunks.observe({ pipeline }, (read + decode + copy + ledger) / 1000),
    hear: (pipeline, event) => {
      if (event.type === 'recovered' && event.crashed) crashes.inc({ pipeline });
      if (event.type === 'recovered') replays.inc({ pipeline }, event.chunks);
      if (event.type !== 'finished' || event.result.outcome !== 'published') return;
      for (const { bytes: read, copied, rejected, filtered } of event.result.tables) {
        bytes.inc({ pipeline }, read);
        for (const [result, count] of Object.entries({ copied, rejected, filtered }))
          records.inc({ pipeline, result }, count);
      }
    },
  };
};
