// Prepares a run before its first connection: binds the pipeline, reads its SQL, finds the server.

import { resolve } from 'node:path';
import { currentEpoch, readEpoch } from '../ledger/run/epoch.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { migrateBeside } from '../db/bookkeeping/migrate.ts';
import type { Trust } from '../db/bookkeeping/trust.ts';
import type { Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { runSessionName } from '../db/connect/session-names.ts';
import { setDurableCommits } from '../db/session/session-settings.ts';
import { EtlError } from '../core/errors/errors.ts';
import { defaultQueue } from '../core/model.ts';
import type { Receiver } from '../core/notification.ts';
import { isPipeline, type Pipeline } from '../pipeline/define-pipeline.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import { areShared } from '../input/sources/registry.ts';
import { refuseMissingSecrets } from '../input/sources/secret.ts';
import { preflight } from './preflight.ts';
import type { RunContext } from './context.ts';
import { readDefinition, type Definition } from '../pipeline/definition.ts';
import { findServer } from './find-server.ts';
import { endOldSessions, takeLock } from './take-lock.ts';
import {
  refuseUnknownTables,
  resolveOptions,
  type FromWorker,
  type RunOptions,
  type RunSettings,
} from './options.ts';
import { createReporter, type Reporter, type Reported } from '../report/report.ts';

export interface PreparedRun extends Definition {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
  readonly settings: RunSettings;
  readonly fromWorker: FromWorker;
  readonly receivers: readonly Receiver[];
  readonly report: Reporter;
}

/**
 * Refuses files such as stdin, which only this process can read: any process may take a job from
 * the queue. Errors: ETL_STDIN_QUEUE.
 */
export const refuseUnshared = ({ name: pipeline, tables }: PipelineSpec): void => {
  for (const table of tables)
    if (table.kind === 'source' && !table.readings.every(({ source }) => areShared(source.locations)))
      throw new EtlError('ETL_STDIN_QUEUE', { pipeline, table: table.name });
};

/** Errors: ETL_USAGE if `definePipeline` did not make the pipeline. */
export const refuseOther = (pipeline: Pipeline): void => {
  if (isPipeline(pipeline)) return;
  const problem = 'the pipeline was not made by definePipeline';
  throw new EtlError('ETL_USAGE', { problem, hint: 'Load a pipeline file with loadPipelineFile.' });
};

/** Errors: ETL_SOURCE_SECRET if a secret of a source is missing, ETL_USAGE. */
export const refuseIncomplete = (
  { tables }: PipelineSpec,
  { allowShrink }: Pick<RunSettings, 'allowShrink'>,
): void => {
  for (const table of tables)
    if (table.kind === 'source')
      for (const { source } of table.readings) refuseMissingSecrets(table.name, source.options);
  refuseUnknownTables(
    tables.map((table) => table.name),
    allowShrink,
  );
};

/** Errors: ETL_USAGE, ETL_DEFINITION_DIFFERS, those of the declaration and of the address. */
export const prepareRun = async (
  pipeline: Pipeline,
  options: RunOptions,
  fromWorker: FromWorker,
  as: Reported['as'],
): Promise<PreparedRun> => {
  const begin = performance.now();
  const settings = resolveOptions(options);
  refuseOther(pipeline);
  const { directory } = settings;
  const definition = await readDefinition(pipeline, settings);
  const { name } = definition.spec;
  if (fromWorker.definition !== undefined) {
    const { hash, params } = fromWorker.definition;
    const { hashes } =
      params === undefined ? definition : await readDefinition(pipeline, { params, directory });
    if (hash !== hashes.definition) throw new EtlError('ETL_DEFINITION_DIFFERS', { pipeline: name });
  }
  if (as === 'helper' || fromWorker.jobId !== undefined) refuseUnshared(definition.spec);
  refuseIncomplete(definition.spec, settings);
  const found = await findServer(settings);
  // After a lost connection, this name tells which sessions on the server were ours.
  const address = { ...found, sessionName: runSessionName(name) };
  const backend = chooseBackend(address, settings.redis, process.env);
  const report = createReporter({ pipeline: name, address, settings, fromWorker, as, begin });
  const receivers = [...(definition.spec.notify ?? []), ...(fromWorker.notify ?? [])];
  return { ...definition, address, backend, settings, fromWorker, receivers, report };
};

export const createContext = async (
  { backend, settings, fromWorker, ...prepared }: PreparedRun,
  client: Client,
  epoch: string,
  trust?: Trust,
): Promise<RunContext> => ({
  ...settings,
  ...prepared,
  queues: { backend, namespace: await backend.namespaceOf(client), logger: prepared.report.logger },
  client,
  trust,
  epoch,
  file:
    settings.pipelineFile === undefined
      ? undefined
      : {
          path: resolve(settings.pipelineFile),
          params: settings.params,
          definition: prepared.hashes.definition,
        },
  jobId: fromWorker.jobId,
  queueName: fromWorker.queueName ?? defaultQueue,
});

export interface Coordinating<Looked> {
  readonly context: RunContext;
  readonly looked: Looked;
}

/**
 * Checks the server, migrates the schema `etl`, and takes the pipeline's lock. `look` reads tables
 * of `etl` under that lock; it is called again if what it read came too early. Errors: those of
 * preflight, migration and `takeLock`.
 */
export const coordinate = async <Looked>(
  prepared: PreparedRun,
  client: Client,
  look: () => Promise<Looked>,
  isRetry = false,
): Promise<Coordinating<Looked>> => {
  const { address, spec } = prepared;
  const seen = await preflight(client, prepared);
  if (isRetry) await endOldSessions({ client, address });
  const lockAndLook = () =>
    askTogether(client, () => [takeLock({ client, address, spec }, isRetry), readEpoch(client), look()]);
  const [, [trust, [isAtOnce, epoch, looked]]] = await askTogether(client, () => [
    setDurableCommits(client),
    migrateBeside(client, seen, lockAndLook),
  ]);
  return {
    context: await createContext(prepared, client, epoch ?? (await currentEpoch(client)), trust),
    looked: isAtOnce ? looked : await look(),
  };
};
