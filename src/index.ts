// The library: what a service, a pipeline file or a test imports from 'sluice'.

export { definePipeline, type Pipeline, type Row } from './pipeline/declare/define-pipeline.ts';
export { column, path } from './pipeline/declare/column.ts';
export { csv } from './pipeline/declare/csv.ts';
export { env } from './pipeline/declare/env.ts';
export { index } from './pipeline/declare/index-definition.ts';
export { sqlFile } from './pipeline/declare/sql-file.ts';
export { oneOf, present, when } from './pipeline/declare/filter.ts';
export { rowSchema } from './pipeline/declare/row-schema.ts';
export { loadPipelineFile } from './pipeline/load-file.ts';
export { runPipeline } from './run/run-pipeline.ts';
export { joinRun } from './run/load/join-run.ts';
export { createWorker, type EtlWorker, type WorkerOptions } from './worker/worker.ts';
export {
  cancel,
  enqueue,
  queueState,
  retry,
  type EnqueueOptions,
  type RetryOptions,
} from './worker/enqueue.ts';
export { schedule } from './worker/schedule/schedule.ts';
export type { Schedule, ScheduleOptions } from './worker/schedule/contract.ts';
export type { RunOptions } from './run/options.ts';
export type { ConnectionOptions } from './db/connect/connection.ts';
export type { RedisOptions } from './queue/redis-address.ts';
export type { RunEvent, RunResult, RunStep, StepTime, TableResult } from './model.ts';
export { EtlError, type ErrorCode } from './errors.ts';
export type { Logger } from './logger.ts';
export type { Tracer } from './trace/tracer.ts';
