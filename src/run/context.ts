// What every step of one run needs: the pipeline, the server, the coordinator's connection, and whom to tell.

import type { PipelineSpec } from '../declaration.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import type { Client } from '../db/client.ts';
import type { Logger } from '../logger.ts';
import type { LoadTimes, RunEvent, RunStep, StepTime } from '../model.ts';
import type { Queues } from '../queue/job-queue.ts';
import type { RunTrace } from '../trace/run-trace.ts';
import type { Tracer } from '../trace/tracer.ts';
import type { PipelineFile } from './definition.ts';
import type { Profiler } from './profile.ts';
import { rounded } from './rounded.ts';

export interface RunContext {
  readonly spec: PipelineSpec;
  readonly address: ServerAddress;
  readonly queues: Queues;
  /** The coordinator's connection: plan, ledger, build, publish. Loads have connections of their own. */
  readonly client: Client;
  /** The server's crash epoch when this connection was opened. */
  readonly epoch: string;
  /** Where loading threads find the definition's functions. */
  readonly file: PipelineFile | undefined;
  readonly workers: number;
  readonly chunkBytes: number;
  readonly keepStaging: boolean;
  /** Tables whose guard does not count this time. */
  readonly allowShrink: readonly string[];
  /** Of the job that asked for the run, when it was enqueued. */
  readonly jobId: string | undefined;
  /** The queue of that job; the default one when there is none. */
  readonly queueName: string;
  readonly onChunk: (times: LoadTimes) => void;
  readonly profiler: Profiler | undefined;
  readonly tracer: Tracer | undefined;
  /** The spans of the run, where it is coordinated. */
  readonly trace: RunTrace | undefined;
  readonly emit: (event: RunEvent) => void;
  readonly logger: Logger;
  /** Asks the run to stop at once. */
  readonly abort: AbortSignal | undefined;
  /** Asks the run to stop after the chunks in flight. */
  readonly drain: AbortSignal | undefined;
  readonly steps: StepTime[];
}

/** Seconds since a moment of `performance.now()`, to the millisecond. */
export const secondsSince = (start: number): number => rounded((performance.now() - start) / 1000);

/** Throws when the run is asked to stop, at once or after the chunks in flight. */
export const stopIfAsked = ({ abort, drain }: Pick<RunContext, 'abort' | 'drain'>): void => {
  abort?.throwIfAborted();
  drain?.throwIfAborted();
};

/** A step that was done again after a crash counts once, with all its time. */
const addStepTime = (steps: StepTime[], name: RunStep, seconds: number): void => {
  const index = steps.findIndex(({ step: known }) => known === name);
  if (index === -1) steps.push({ step: name, seconds });
  else steps[index] = { step: name, seconds: rounded(steps[index]!.seconds + seconds) };
};

/** Runs one step, announced and timed. */
export const step = async <T>(context: RunContext, name: RunStep, work: () => Promise<T>): Promise<T> => {
  stopIfAsked(context);
  context.emit({ type: 'step', step: name });
  const start = performance.now();
  const result = await work();
  addStepTime(context.steps, name, secondsSince(start));
  context.trace?.stepEnded();
  return result;
};
