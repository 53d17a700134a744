// What every step of one run needs: the pipeline, the server, the coordinator's connection, and where to report.

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

/** With the definition of the run, and its settings except those that its reporter has. */
export interface RunContext
  extends Definition, Omit<RunSettings, 'onEvent' | 'logger' | 'tracer' | 'profile'> {
  readonly address: ServerAddress;
  readonly queues: Queues;
  /** The coordinator's connection: plan, ledger, build, publish. Loads have connections of their own. */
  readonly client: Client;
  /** The owners that preflight found in our schemas; undefined: it has not looked. */
  readonly trust: Trust | undefined;
  /** The server's crash epoch when this connection was opened. */
  readonly epoch: string;
  /** Where loading threads find the definition's functions. */
  readonly file: PipelineFile | undefined;
  /** Of the job that asked for the run, when it was enqueued. */
  readonly jobId: string | undefined;
  /** The queue of that job; the default one when there is none. */
  readonly queueName: string;
  /** Who is notified about the run. */
  readonly receivers: readonly Receiver[];
  readonly report: Reporter;
}

/** What building tables aside requires. */
export interface BuildContext extends Pick<
  RunContext,
  'client' | 'spec' | 'sqlTexts' | 'testTexts' | 'abort' | 'fullRefresh' | 'fresh'
> {
  readonly report: Pick<Reporter, 'emit' | 'built'>;
}

/** What finding out how a run would begin requires. */
export interface OutsetContext extends Pick<RunContext, 'client' | 'spec' | 'hashes' | 'epoch'> {
  readonly report: Pick<Reporter, 'emit'>;
}

/** Runs one step, announced and timed. */
export const step = async <T>(context: RunContext, name: RunStep, work: () => Promise<T>): Promise<T> => {
  stopIfAsked(context);
  context.report.emit({ type: 'step', step: name });
  const start = performance.now();
  const result = await work();
  context.report.stepEnded(name, secondsSince(start));
  return result;
};
