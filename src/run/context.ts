// What all steps of one run share: the pipeline, the server, the coordinator's connection, the
// reporter.

import type { ServerAddress } from '../db/connect/address.ts';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import type { RunStep } from '../core/model.ts';
import type { Receiver } from '../core/notification.ts';
import type { Queues } from '../queue/job-queue.ts';
import type { Definition, PipelineFile } from '../pipeline/definition.ts';
import type { RunSettings } from './options.ts';
import type { Reporter } from '../report/report.ts';
import { secondsSince } from '../core/amounts.ts';
import { stopIfAsked } from '../core/stop.ts';

/** What most steps need. */
export interface Work {
  /** The coordinator's connection, for planning, ledger, building and publishing. */
  readonly client: Client;
  readonly spec: PipelineSpec;
  readonly report: Pick<Reporter, 'emit' | 'built'>;
}

/** The definition of the run and its settings, without the settings that only the reporter uses. */
export interface RunContext
  extends Work, Definition, Omit<RunSettings, 'onEvent' | 'logger' | 'tracer' | 'profile'> {
  readonly address: ServerAddress;
  readonly queues: Queues;
  /** Owners of our schemas, as preflight found them; undefined without a preflight. */
  readonly trust: Trust | undefined;
  /** The server's crash epoch (ledger/run/epoch.ts) when this connection was opened. */
  readonly epoch: string;
  /** Where loading threads import the definition's functions from. */
  readonly file: PipelineFile | undefined;
  /** The job that asked for the run; undefined if the run was not enqueued. */
  readonly jobId: string | undefined;
  /** The queue of the job; without a job, the default queue. */
  readonly queueName: string;
  readonly receivers: readonly Receiver[];
  readonly report: Reporter;
}

/** What building the tables in the build schema needs. */
export type BuildContext = Work &
  Pick<RunContext, 'sqlTexts' | 'testTexts' | 'abort' | 'fullRefresh' | 'fresh'>;

/** What deciding how a run would begin needs. */
export type OutsetContext = Work & Pick<RunContext, 'hashes' | 'epoch'>;

/**
 * Runs one step, and reports its start and its duration. Errors: the reason to stop, if there is
 * one.
 */
export const step = async <T>(context: RunContext, name: RunStep, work: () => Promise<T>): Promise<T> => {
  stopIfAsked(context);
  context.report.emit({ type: 'step', step: name });
  const start = performance.now();
  const result = await work();
  context.report.stepEnded(name, secondsSince(start));
  return result;
};
