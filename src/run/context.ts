// What all steps of one run share: the pipeline, the server, the coordinator's connection, the
// reporter.

import type { ServerAddress } from '../db/connect/address.ts';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';
import type { RunStep } from '../core/model.ts';
import type { Receiver } from '../core/declaration/notification.ts';
import type { Queues } from '../queue/job-queue.ts';
import type { Definition, PipelineFile } from '../pipeline/definition.ts';
import type { RunSettings } from './options.ts';
import type { Reporter } from '../report/report.ts';
import { secondsSince } from '../core/amounts.ts';
import { stopIfAsked } from '../core/stop.ts';

/** The definition of the run and its settings, without the settings that only the reporter uses. */
export interface RunContext
  extends Definition, Omit<RunSettings, 'onEvent' | 'logger' | 'tracer' | 'profile'> {
  readonly address: ServerAddress;
  readonly queues: Queues;
  /**
   * The coordinator's connection, for planning, ledger, building and publishing. Loaders have their
   * own.
   */
  readonly client: Client;
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
export interface BuildContext extends Pick<
  RunContext,
  'client' | 'spec' | 'sqlTexts' | 'testTexts' | 'abort' | 'fullRefresh' | 'fresh'
> {
  readonly report: Pick<Reporter, 'emit' | 'built'>;
}

/** What deciding how a run would begin needs. */
export interface OutsetContext extends Pick<RunContext, 'client' | 'spec' | 'hashes' | 'epoch'> {
  readonly report: Pick<Reporter, 'emit'>;
}

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
