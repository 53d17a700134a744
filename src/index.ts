// The names that services, pipeline files and tests import from 'sluice'.

export {
  column,
  csv,
  definePipeline,
  env,
  expect,
  hash,
  index,
  list,
  oneOf,
  path,
  present,
  range,
  rowSchema,
  slack,
  sqlFile,
  webhook,
  when,
} from './pipeline/authoring.ts';
export type { FailedHookContext, HookContext, HookTable } from './core/hook.ts';
export type { Notification, NotifyEvent } from './core/notification.ts';
export type { Pipeline, Row } from './pipeline/define-pipeline.ts';
export { loadPipelineFile } from './pipeline/load-file.ts';
export { runPipeline } from './run/run-pipeline.ts';
export { loadFiles, type LoadDialect, type LoadOptions } from './tools/load/load-files.ts';
export { planPipeline, type PlanOptions } from './tools/library.ts';
export type { RunPlan } from './run/plan/contract.ts';
export { listFiles, type ListOptions } from './tools/library.ts';
export type { FileState } from './core/file-state.ts';
export { testPipeline } from './tools/library.ts';
export type { TestPipelineOptions, TestReport } from './tools/test-report.ts';
export { verifyPipeline } from './tools/library.ts';
export type { VerifiedTable, VerifyOptions, VerifyReport } from './tools/verify/report.ts';
export { rollbackPipeline, type RollbackOptions, type RollbackResult } from './tools/rollback.ts';
export { listVersions, pruneRuns, type PruneOptions, type UpkeepOptions } from './tools/library.ts';
export type { KeptVersion, PruneResult } from './ledger/production/upkeep.ts';
export { joinRun } from './run/help.ts';
export { createWorker, type EtlWorker, type WorkerOptions } from './worker/worker.ts';
export {
  cancel,
  enqueue,
  queueState,
  retry,
  type EnqueueOptions,
  type RetryOptions,
} from './worker/enqueue.ts';
export { createClient } from './worker/client.ts';
export type { EtlClient } from './worker/options.ts';
export { schedule } from './worker/schedule/schedule.ts';
export type {
  Schedule,
  ScheduleHistoryOptions,
  ScheduleOptions,
  ScheduleSlot,
} from './worker/schedule/contract.ts';
export { createPage } from './page/create-page.ts';
export type { EtlPage, PageAction, PageControl, PageOptions } from './page/options.ts';
export type { RunOptions } from './run/options.ts';
export type { ConnectionOptions } from './db/connect/connection.ts';
export type { RedisOptions } from './queue/redis-address.ts';
export type { DataTestResult, FailingRow } from './core/data-test.ts';
export type { RunResult, RunStep, StepTime, TableResult, TimedStep } from './core/model.ts';
export type { RunEvent } from './core/run-event.ts';
export { EtlError, type ErrorCode } from './core/errors/errors.ts';
export type { Logger } from './core/logger.ts';
export type { Tracer } from './report/tracer.ts';
