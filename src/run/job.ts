// A run before its first connection: the bound pipeline, its SQL, its hashes, and where it goes.

import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { currentEpoch } from '../checkpoint/epoch.ts';
import type { PipelineSpec } from '../declaration.ts';
import { resolveServer, type ServerAddress } from '../db/address.ts';
import type { Client } from '../db/client.ts';
import { chunkBytesDefault } from '../limits.ts';
import { silentLogger } from '../logger.ts';
import type { StepTime } from '../model.ts';
import { bindPipeline } from '../pipeline/bind.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { definitionHash, tableHashes } from '../pipeline/hash.ts';
import { readSqlFile, type SqlText } from '../transform/sql-file.ts';
import type { RunContext } from './context.ts';
import type { RunOptions } from './options.ts';

/** What identifies a definition. */
export interface DefinitionHashes {
  readonly definition: string;
  readonly tables: Readonly<Record<string, string>>;
}

export interface Job {
  readonly spec: PipelineSpec;
  readonly sqlTexts: ReadonlyMap<string, SqlText>;
  readonly hashes: DefinitionHashes;
  readonly address: ServerAddress;
  readonly options: RunOptions;
}

const readSqlFiles = async (spec: PipelineSpec): Promise<ReadonlyMap<string, SqlText>> => {
  const texts = new Map<string, SqlText>();
  for (const { name, transform } of spec.tables)
    if (transform !== undefined) texts.set(name, await readSqlFile(name, transform, spec.directory));
  return texts;
};

/** Names this process's sessions on the server, so that they are known as ours after a connection was lost. */
const withSessionName = (address: ServerAddress, pipeline: string): ServerAddress => ({
  ...address,
  sessionName: `sluice ${pipeline.slice(0, 40)} ${randomBytes(4).toString('hex')}`,
});

/** Binds the pipeline, reads its SQL and finds the server. Errors: those of the declaration and of the address. */
export const prepareJob = async (
  pipeline: Pipeline,
  options: RunOptions & { readonly server?: ServerAddress },
): Promise<Job> => {
  const directory = resolve(options.directory ?? '.');
  const spec = bindPipeline(pipeline, { params: options.params ?? {}, directory });
  const sqlTexts = await readSqlFiles(spec);
  const texts = new Map([...sqlTexts].map(([table, { text }]) => [table, text]));
  const { databaseUrl, server } = options;
  const address =
    server ?? (await resolveServer({ databaseUrl, env: process.env, etlDirectory: resolve('.etl') }));
  return {
    spec,
    sqlTexts,
    hashes: { definition: definitionHash(spec, texts), tables: tableHashes(spec, texts) },
    address: withSessionName(address, spec.name),
    options,
  };
};

/** The job on one connection. */
export const createContext = async (
  { spec, address, options }: Job,
  client: Client,
  steps: StepTime[],
): Promise<RunContext> => ({
  spec,
  address,
  client,
  steps,
  epoch: await currentEpoch(client),
  workers: options.workers ?? availableParallelism(),
  chunkBytes: options.chunkBytes ?? chunkBytesDefault,
  keepStaging: options.keepStaging ?? false,
  emit: options.onEvent ?? (() => undefined),
  logger: options.logger ?? silentLogger,
  signal: options.signal,
  drain: options.drain,
});
