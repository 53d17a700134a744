// The files of a pipeline: which of them are in production, and how those that are there now differ.

import { schemaVersions } from '../db/bookkeeping/migrate.ts';
import type { Client } from '../db/client.ts';
import {
  goneFiles,
  knownVersions,
  type FilesOf,
  type KnownVersion,
  type PublishedFile,
} from '../checkpoint/published-files.ts';
import type { NewFile } from '../checkpoint/ledger.ts';
import type { PipelineSpec } from '../declaration.ts';
import { EtlError } from '../errors.ts';
import type { FileState } from '../model.ts';
import type { Pipeline } from '../pipeline/declare/define-pipeline.ts';
import { refuseStrangers } from '../server/preflight.ts';
import { takeEverything, type Sieve } from './begin/sieve.ts';
import { planSources } from './begin/plan.ts';
import { readDefinition } from './definition.ts';
import { resolveOptions, type RunOptions } from './options.ts';

const fileState = (
  table: string,
  { name: file, location }: Pick<NewFile, 'name' | 'location'>,
  state: FileState['state'],
  known: PublishedFile | undefined,
): FileState => ({
  table,
  file,
  location,
  state,
  run: known?.runId ?? null,
  records: known?.records ?? null,
  rows: known?.rows ?? null,
  publishedAt: known?.publishedAt ?? null,
});

/** The state of a file that is listed. */
const judge = (version: KnownVersion | undefined): FileState['state'] => {
  if (version === undefined) return 'new';
  if (version.isUnloaded) return 'unloaded';
  if (!version.isSame || version.isPartial) return 'changed';
  return version.isCorrected ? 'corrected' : 'in production';
};

/** A sieve that lets nothing through, and keeps what it has seen. */
const createLister = (client: Client | undefined, of: FilesOf, states: FileState[]): Sieve => {
  const listed: number[] = [];
  const { table } = of;
  return {
    take: async (batch) => {
      const versions = client === undefined ? [] : await knownVersions(client, of, batch);
      const known = new Map(versions.map((one) => [one.place, one]));
      for (const [place, file] of batch.entries()) {
        const version = known.get(place);
        if (version !== undefined) listed.push(version.id);
        states.push(fileState(table, file, judge(version), version));
      }
      return [];
    },
    end: async () => {
      const gone = client === undefined ? [] : await goneFiles(client, of, listed);
      for (const file of gone) states.push(fileState(table, file, 'gone', file));
      return takeEverything().end();
    },
  };
};

/** The server, if it has file states. Errors: ETL_SCHEMA_OLDER, ETL_SCHEMA_NEWER. */
const knowing = async (client: Client | undefined, spec: PipelineSpec): Promise<Client | undefined> => {
  if (client === undefined) return undefined;
  const { found, known } = await schemaVersions(client, await refuseStrangers(client, spec.name));
  if (found !== 0 && found !== known)
    throw new EtlError(found > known ? 'ETL_SCHEMA_NEWER' : 'ETL_SCHEMA_OLDER', { found, known });
  return found === 0 ? undefined : client;
};

/**
 * The state of every file, table by table in the order in which they are listed, then those that are gone; without a server all are
 * new. Reads the first bytes of each file. Errors: those of the definition, its files and the server, ETL_SCHEMA_OLDER.
 */
export const filesOf = async (
  pipeline: Pipeline,
  options: RunOptions,
  client: Client | undefined,
): Promise<readonly FileState[]> => {
  const settings = resolveOptions(options);
  const { spec } = await readDefinition(pipeline, settings);
  const known = await knowing(client, spec);
  const states: FileState[] = [];
  await planSources(spec, settings, ({ name: table }) =>
    createLister(known, { pipeline: spec.name, schema: spec.schema, table }, states),
  );
  return states;
};
