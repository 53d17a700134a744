// Finds the state of each file of a pipeline: new, changed, in production, gone and so on.

import { schemaVersions } from '../db/bookkeeping/migrate.ts';
import { askTogether } from '../db/ask-together.ts';
import type { Client } from '../db/client.ts';
import {
  goneFiles,
  versionsAt,
  knownVersions,
  type FilesOf,
  type KnownVersion,
  type PublishedFile,
} from '../ledger/production/published-files.ts';
import { heldBefore } from '../ledger/production/held-files.ts';
import type { NewFile } from '../ledger/run/ledger.ts';
import type { PipelineSpec, SourceTableSpec } from '../core/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { FileState } from '../core/file-state.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { refuseStrangers } from '../db/session/access.ts';
import { versionsAsListed } from '../run/files/as-listed.ts';
import { findCopies } from '../run/files/copies.ts';
import type { Found } from '../run/files/found-files.ts';
import { createHolder, type Holder, type PlannedFile } from '../run/files/held-files.ts';
import { changedError } from '../run/files/new-files.ts';
import { Sightings, type Moves, type Unsettled } from '../run/files/moves.ts';
import { takeEverything, type Sieve } from '../run/files/sieve.ts';
import { planSources } from '../run/files/plan-sources.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import { readDefinition } from '../pipeline/definition.ts';
import { resolveOptions, type RunOptions } from '../run/options.ts';

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

const judge = (version: Omit<KnownVersion, 'place'> | undefined): FileState['state'] => {
  if (version === undefined) return 'new';
  if (version.isUnloaded) return 'unloaded';
  if (!version.isSame || version.isPartial) return 'changed';
  return version.isCorrected ? 'corrected' : 'in production';
};

/** Finds states that depend on other files: a moved file, a new file at its old place, a copy. */
const statesOfOthers = async (
  client: Client,
  of: FilesOf,
  table: SourceTableSpec,
  { unsettled, listed }: Sightings,
  { followed, gone }: Moves,
  missing: readonly PublishedFile[],
): Promise<ReadonlyMap<Unsettled['file'], FileState>> => {
  const states = new Map<Unsettled['file'], FileState>();
  const { changed, gone: choice, replacesPartitions } = meaningOf(table.publish);
  const reloads = changed === 'reload';
  const leaving = choice === 'unload' || replacesPartitions === true ? missing.map(({ id }) => id) : [];
  const loaded: Unsettled['file'][] = [];
  for (const one of unsettled.values()) {
    const { file, version } = one;
    const from = followed.get(one);
    const isSuccessor = version !== undefined && gone.has(version.id);
    const known = judge(from ?? (isSuccessor ? undefined : version));
    if (known === 'new' || (known === 'changed' && reloads)) loaded.push(file);
    if (known === 'changed' && reloads) leaving.push((from ?? version)!.id);
    if (from !== undefined || isSuccessor)
      states.set(file, fileState(file.table, file, known === 'in production' ? 'moved' : known, from));
  }
  const intake = {
    extent: 'part',
    outgoing: { files: leaving, unloaded: [] },
    moved: [...followed].map(([{ file }, { id }]) => ({ id, name: file.name })),
    basis: { listed },
  } as const;
  for (const [file, original] of await findCopies(client, of, { table, files: loaded, intake })) {
    const problem = `${file.name}, a copy of ${original}`;
    states.set(file, { ...fileState(file.table, file, 'copy', undefined), problem });
  }
  return states;
};

/** In mode replace, moved files do not matter, because all files are loaded. */
const noMoves: Moves = { followed: new Map(), over: new Map(), gone: new Set() };

/** Returns the state of a file that a run would hold back; otherwise the given state. */
const orHeld = (
  state: FileState,
  file: PlannedFile,
  spec: SourceTableSpec,
  { held, holds }: Holder,
): FileState => {
  const isRefused = state.state === 'changed' && meaningOf(spec.publish).changed === 'error';
  const error = isRefused ? (file.misfit ?? changedError(spec, file.name)) : file.misfit;
  if (!['new', 'changed'].includes(state.state) || !holds(file, error)) return state;
  return { ...state, state: 'held back', problem: held.at(-1)!.problem };
};

const unreadStates = (table: string, found: readonly Found[], { held }: Holder): readonly FileState[] =>
  found.map(({ file }) => {
    const { problem } = held.find(({ location }) => location === file.location)!;
    return { ...fileState(table, file, 'held back', undefined), problem };
  });

/** Adds each listed file's state to `states`, in listed order. It selects no file for a load. */
const createLister = (
  client: Client,
  of: FilesOf,
  spec: SourceTableSpec,
  holder: Holder,
  states: FileState[],
): Sieve => {
  const seen = new Sightings();
  const stateOf = new Map<Unsettled['file'], FileState>();
  const { table } = of;
  /** The current batch of files. `asListed`: the files that are surely in production, by index. */
  let found: readonly Found[] = [];
  let asListed = new Map<number, KnownVersion>();
  const opened = async (batch: Parameters<Sieve['take']>[0]): Promise<Map<string, FileState[]>> => {
    const versions = await knownVersions(client, of, batch);
    const known = new Map(versions.map((one) => [one.place, one]));
    const byLocation = new Map<string, FileState[]>();
    for (const [index, file] of batch.entries()) {
      const version = known.get(index);
      const state = orHeld(fileState(table, file, judge(version), version), file, spec, holder);
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
      return [...batch.keys()].filter((index) => !asListed.has(index));
    },
    take: async (batch) => {
      const others = await opened(batch);
      for (const [index, { file }] of found.entries()) {
        const version = asListed.get(index);
        if (version !== undefined) states.push(fileState(table, version, 'in production', version));
        else states.push(...(others.get(file.location) ?? []));
        others.delete(file.location);
      }
      return [];
    },
    keep: async (unread) => {
      states.push(...unreadStates(table, unread, holder));
      for (const id of await versionsAt(client, of, unread)) seen.settle(id);
    },
    end: async () => {
      const moves = spec.publish === 'replace' ? noMoves : await seen.moves(client, of, spec);
      const missing = await goneFiles(client, of, seen.listed);
      const others = await statesOfOthers(client, of, spec, seen, moves, missing);
      const other = new Map([...others].map(([file, state]) => [stateOf.get(file), state]));
      for (const [index, state] of states.entries()) states[index] = other.get(state) ?? state;
      for (const file of missing) states.push(fileState(table, file, 'gone', file));
      return takeEverything().end();
    },
  };
};

const createNewcomers = (spec: SourceTableSpec, holder: Holder, states: FileState[]): Sieve => ({
  take: async (batch) => {
    for (const file of batch)
      states.push(orHeld(fileState(spec.name, file, 'new', undefined), file, spec, holder));
    return [];
  },
  keep: async (unread) => void states.push(...unreadStates(spec.name, unread, holder)),
  end: takeEverything().end,
});

/**
 * Returns the client, or undefined before the first run. Errors: ETL_SCHEMA_OLDER,
 * ETL_SCHEMA_NEWER.
 */
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
 * Returns the state of every file, by table: first listed files, then files that are gone. Opens a
 * file only if its listing does not prove that it is in production.
 * Errors: those of the definition, its files and the server, ETL_SCHEMA_OLDER.
 *
 * @param client undefined: there is no server, so all files are new
 */
export const filesOf = async (
  pipeline: Pipeline,
  options: RunOptions,
  client: Client | undefined,
): Promise<readonly FileState[]> => {
  const settings = resolveOptions(options);
  const { spec } = await readDefinition(pipeline, settings);
  const known = await knowing(client, spec);
  const before = known === undefined ? new Map() : await heldBefore(known, spec.name);
  const states = new Map<string, FileState[]>(spec.tables.map(({ name }) => [name, []]));
  const list = (): Promise<unknown> =>
    planSources(
      spec,
      settings,
      (table, holder) => {
        const own = states.get(table.name)!;
        if (known === undefined) return createNewcomers(table, holder, own);
        const of = { pipeline: spec.name, schema: spec.schema, table: table.name };
        return createLister(known, of, table, holder, own);
      },
      (table) => createHolder(table, false, { before, now: new Map() }),
    );
  await (known === undefined ? list() : askTogether(known, () => [list()]));
  return [...states.values()].flat();
};
