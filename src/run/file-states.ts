// The files of a pipeline: which of them are in production, and how the current ones differ.

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
import type { PipelineSpec, SourceTableSpec } from '../declaration.ts';
import { EtlError } from '../errors.ts';
import type { FileState } from '../model.ts';
import type { Pipeline } from '../pipeline/declare/define-pipeline.ts';
import { modeOf } from '../publish/tables.ts';
import { refuseStrangers } from '../server/preflight.ts';
import { versionsAsListed } from './begin/as-listed.ts';
import type { Found } from './begin/found-files.ts';
import { Sightings, type Moves, type Unsettled } from './begin/moves.ts';
import { takeEverything, type Sieve } from './begin/sieve.ts';
import { planSources } from './begin/plan-sources.ts';
import { readDefinition } from './definition.ts';
import { resolveOptions, type RunOptions } from './options.ts';

const fileState = (
  table: string,
  { name: file, location, misfit }: Pick<NewFile, 'name' | 'location'> & { readonly misfit?: EtlError },
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
  problem: state === 'new' || state === 'changed' ? (misfit?.message ?? null) : null,
});

/** The state of a file that is listed. */
const judge = (version: Omit<KnownVersion, 'place'> | undefined): FileState['state'] => {
  if (version === undefined) return 'new';
  if (version.isUnloaded) return 'unloaded';
  if (!version.isSame || version.isPartial) return 'changed';
  return version.isCorrected ? 'corrected' : 'in production';
};

/** States of files that were moved, and of new files under their names, in the place of those that their names alone tell. */
const statesOfMoved = (
  { followed, gone }: Moves,
  { unsettled }: Sightings,
  stateOf: ReadonlyMap<Unsettled['file'], FileState>,
): ReadonlyMap<FileState, FileState> => {
  const states = new Map<FileState, FileState>();
  for (const one of unsettled.values()) {
    const { file, version } = one;
    const from = followed.get(one);
    const known = judge(from);
    const state = known === 'in production' ? 'moved' : known;
    if (from !== undefined || (version !== undefined && gone.has(version.id)))
      states.set(stateOf.get(file)!, fileState(file.table, file, state, from));
  }
  return states;
};

/** A sieve that lets nothing through, and keeps what it has seen, in the order in which it is listed. */
const createLister = (client: Client, of: FilesOf, spec: SourceTableSpec, states: FileState[]): Sieve => {
  const seen = new Sightings();
  const stateOf = new Map<Unsettled['file'], FileState>();
  const { table } = of;
  /** What was found together, with the versions that production has for sure: nobody opens those. */
  let found: readonly Found[] = [];
  let asListed = new Map<number, KnownVersion>();
  const opened = async (batch: Parameters<Sieve['take']>[0]): Promise<Map<string, FileState[]>> => {
    const versions = await knownVersions(client, of, batch);
    const known = new Map(versions.map((one) => [one.place, one]));
    const byLocation = new Map<string, FileState[]>();
    for (const [place, file] of batch.entries()) {
      const version = known.get(place);
      const state = fileState(table, file, judge(version), version);
      if (!seen.add(file, version)) stateOf.set(file, state);
      const there = byLocation.get(file.location);
      if (there === undefined) byLocation.set(file.location, [state]);
      else there.push(state);
    }
    return byLocation;
  };
  return {
    open: async (batch) => {
      found = batch;
      const versions = await versionsAsListed(client, of, batch);
      asListed = new Map(versions.map((one) => [one.place, one]));
      for (const { id } of versions) seen.settle(id);
      return [...batch.keys()].filter((place) => !asListed.has(place));
    },
    take: async (batch) => {
      const others = await opened(batch);
      for (const [place, { file }] of found.entries()) {
        const version = asListed.get(place);
        if (version !== undefined) states.push(fileState(table, version, 'in production', version));
        else states.push(...(others.get(file.location) ?? []));
        others.delete(file.location);
      }
      return [];
    },
    end: async () => {
      // A table that is replaced is loaded again as a whole, whatever its files are called.
      if (modeOf(spec.publish) !== 'replace') {
        const others = statesOfMoved(await seen.moves(client, of, spec), seen, stateOf);
        for (const [place, state] of states.entries()) states[place] = others.get(state) ?? state;
      }
      for (const file of await goneFiles(client, of, seen.listed))
        states.push(fileState(table, file, 'gone', file));
      return takeEverything().end();
    },
  };
};

/** The same without a server: all files are new. */
const createNewcomers = (table: string, states: FileState[]): Sieve => ({
  take: async (batch) => {
    for (const file of batch) states.push(fileState(table, file, 'new', undefined));
    return [];
  },
  end: takeEverything().end,
});

/** The server, if it has file states. Errors: ETL_SCHEMA_OLDER, ETL_SCHEMA_NEWER. */
export const knowing = async (
  client: Client | undefined,
  spec: PipelineSpec,
): Promise<Client | undefined> => {
  if (client === undefined) return undefined;
  const { found, known } = await schemaVersions(client, await refuseStrangers(client, spec.name));
  if (found !== 0 && found !== known)
    throw new EtlError(found > known ? 'ETL_SCHEMA_NEWER' : 'ETL_SCHEMA_OLDER', { found, known });
  return found === 0 ? undefined : client;
};

/**
 * The state of every file, table by table in the order in which they are listed, then those that are gone; without a server all are
 * new. Reads the first bytes of each file that its listing does not show to be in production. Errors: those of the definition, its files and the server, ETL_SCHEMA_OLDER.
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
  await planSources(spec, settings, (table) =>
    known === undefined
      ? createNewcomers(table.name, states)
      : createLister(known, { pipeline: spec.name, schema: spec.schema, table: table.name }, table, states),
  );
  return states;
};
