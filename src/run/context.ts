// Types that all steps of a run share.

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
import { stopIfAsked } from '../core/stop.ts';

export interface Work {
  /** The coordinator's connection, for planning, ledger, building and publishing. */
  readonly client: Client;
  readonly spec: PipelineSpec;
  readonly report: Pick<Reporter, 'emit' | 'built'>;
}

export interface RunContext
  extends Work, Definition, Omit<RunSettings, 'onEvent' | 'logger' | 'tracer' | 'profile'> {
  readonly address: ServerAddress;
  readonly queues: Queues;
  /** Owners of our schemas, as preflight found them. */
  readonly trust: Trust | undefined;
  /** The server's crash epoch (ledger/run/epoch.ts) when this connection was opened. */
  readonly epoch: string;
  /** File from which the loading threads import the functions of the definition. */
  readonly file: PipelineFile | undefined;
  readonly jobId: string | undefined;
  readonly queueName: string;
  readonly receivers: readonly Receiver[];
  readonly report: Reporter;
}

export type BuildContext = Work &
  Pick<RunContext, 'sqlTexts' | 'testTexts' | 'abort' | 'fullRefresh' | 'fresh'>;

export type OutsetContext = Work & Pick<RunContext, 'hashes' | 'epoch'>;

/** Runs a step. Errors: the reason to stop the run, if there is one. */
export const step = async <T>(context: RunContext, name: RunStep, work: () => Promise<T>): Promise<T> => {
  stopIfAsked(context);
  context.report.emit({ type: 'step', step: name });
  const result = await work();
  context.report.stepEnded(name);
  return result;
};
