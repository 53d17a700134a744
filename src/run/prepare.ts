// A run before its first connection: the bound pipeline, its SQL, its hashes, and where it goes.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { currentEpoch } from '../checkpoint/epoch.ts';
import { findEtlDirectory } from '../embedded/find-directory.ts';
import { resolveServer, type ServerAddress } from '../db/connect/address.ts';
import type { Client } from '../db/client.ts';
import { runSessionName } from '../db/session/session-names.ts';
import { chunkBytesDefault } from '../limits.ts';
import { silentLogger } from '../logger.ts';
import { EtlError, messageOf } from '../errors.ts';
import { defaultQueue, type RunEvent, type StepTime } from '../model.ts';
import { isPipeline, type Pipeline } from '../pipeline/declare/define-pipeline.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { RunTrace } from '../trace/run-trace.ts';
import type { RunContext } from './context.ts';
import { readDefinition, type Definition } from './definition.ts';
import { checkRunOptions, refuseUnknownTables, type RunHooks, type RunOptions } from './options.ts';
import { startProfiler, type Profiler } from './profile.ts';

/** A run before its first connection. */
export interface PreparedRun extends Definition {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
  readonly options: RunOptions;
  readonly hooks: RunHooks;
  readonly tellHost: (event: RunEvent) => void;
  /** When the options ask for a profile. */
  readonly profiler?: Profiler;
  /** When the options give a tracer, and the run is coordinated here. */
  readonly trace?: RunTrace;
}

/** Binds the pipeline, reads its SQL and finds the server. Errors: ETL_USAGE, those of the declaration and of the address. */
export const prepareRun = async (
  pipeline: Pipeline,
  options: RunOptions,
  hooks: RunHooks = {},
): Promise<PreparedRun> => {
  checkRunOptions(options);
  if (!isPipeline(pipeline)) {
    const problem = 'the pipeline was not made by definePipeline';
    throw new EtlError('ETL_USAGE', { problem, hint: 'A file of pipelines is loaded by loadPipelineFile.' });
  }
  const directory = resolve(options.directory ?? '.');
  const definition = await readDefinition(pipeline, { params: options.params ?? {}, directory });
  if (hooks.definition !== undefined) {
    const { hash, params } = hooks.definition;
    const { hashes } =
      params === undefined ? definition : await readDefinition(pipeline, { params, directory });
    if (hash !== hashes.definition)
      throw new EtlError('ETL_DEFINITION_DIFFERS', { pipeline: definition.spec.name });
  }
  refuseUnknownTables(
    definition.spec.tables.map(({ name }) => name),
    options.allowShrink,
  );
  const { databaseUrl, connection } = options;
  const etlDirectory = findEtlDirectory(process.cwd());
  const address = await resolveServer({ databaseUrl, connection, env: process.env, etlDirectory });
  // So that they are known as ours after a connection was lost.
  const named = { ...address, sessionName: runSessionName(definition.spec.name) };
  const { profile = false, logger = silentLogger } = options;
  return {
    ...definition,
    address: named,
    backend: chooseBackend(named, options.redis, process.env),
    options,
    hooks,
    tellHost: createTellHost(options),
    ...(profile && { profiler: startProfiler(named, logger) }),
  };
};

/** What a listener throws is named as such: it must not pass for a lost connection, whose errors have no code either. */
const listenerError = (cause: unknown): EtlError =>
  new EtlError('ETL_INTERNAL', { problem: `onEvent threw: ${messageOf(cause)}` }, { cause });

/**
 * Tells the host's listener. Nobody waits for one that is asynchronous; when it fails, the next event ends the run, and
 * the log has it in any case. Proved by test/integration/library.test.ts, "has a listener that fails later".
 */
const createTellHost = ({ onEvent, logger = silentLogger }: RunOptions): ((event: RunEvent) => void) => {
  let failure: EtlError | undefined;
  const fail = (cause: unknown): void => {
    failure = listenerError(cause);
    logger.error({ error: failure }, 'a listener of the run failed');
  };
  return (event) => {
    if (failure !== undefined) throw failure;
    try {
      const told: unknown = onEvent?.(event);
      if (told instanceof Promise) told.catch(fail);
    } catch (cause) {
      throw listenerError(cause);
    }
  };
};

export const workersOf = ({ workers = availableParallelism() }: RunOptions): number => workers;

/** The run on one connection. */
export const createContext = async (
  { spec, hashes, address, backend, options, hooks, tellHost, profiler, trace }: PreparedRun,
  client: Client,
  steps: StepTime[],
): Promise<RunContext> => ({
  spec,
  address,
  queues: {
    backend,
    namespace: await backend.namespaceOf(client),
    logger: options.logger ?? silentLogger,
  },
  client,
  steps,
  epoch: await currentEpoch(client),
  file:
    options.pipelineFile === undefined
      ? undefined
      : {
          path: resolve(options.pipelineFile),
          params: options.params ?? {},
          definition: hashes.definition,
        },
  workers: workersOf(options),
  chunkBytes: options.chunkBytes ?? chunkBytesDefault,
  keepStaging: options.keepStaging ?? false,
  allowShrink: options.allowShrink ?? [],
  jobId: hooks.jobId,
  queueName: hooks.queueName ?? defaultQueue,
  onChunk: hooks.onChunk ?? (() => undefined),
  profiler,
  tracer: options.tracer,
  trace,
  emit: (event) => {
    profiler?.hear(event);
    trace?.hear(event);
    tellHost(event);
  },
  logger: options.logger ?? silentLogger,
  abort: options.signal,
  drain: options.drain,
});
