// Finds the listed files for the files of a table in production, or why a file cannot be compared.

import { loadedFiles, type LoadedFile } from '../../ledger/production/loaded-files.ts';
import { knownVersions, type FilesOf, type KnownVersion } from '../../ledger/production/published-files.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { Client } from '../../db/client.ts';
import type { PipelineSpec, SourceTableSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { isOfOneTable, isShapedAlike } from '../../pipeline/hash.ts';
import { plural } from '../../core/wording.ts';
import { versionsAsListed } from '../../run/files/as-listed.ts';
import { Sightings } from '../../run/files/moves.ts';
import { planSources } from '../../run/files/plan-sources.ts';
import { takeEverything, type Sieve } from '../../run/files/sieve.ts';
import type { RunSettings } from '../../run/options.ts';

export interface KnownFile extends LoadedFile {
  /** The listed file; undefined if the file cannot be compared, because of `reason`. */
  readonly listed: NewFile | undefined;
  readonly reason: string;
  readonly isRedefined: boolean;
}

interface Seen {
  readonly file: NewFile & { readonly misfit?: EtlError };
  readonly version: Omit<KnownVersion, 'place'>;
}

/**
 * Adds listed files that are in production to `seen`, by id; selects no file for a load. With
 * `run`, files that another run loaded are not opened.
 * Proved by test/integration/verify.test.ts, "opens the files of that run".
 */
const createWatcher = (
  client: Client,
  of: FilesOf,
  table: SourceTableSpec,
  run: number | undefined,
  seen: Map<number, Seen>,
  sightings = new Sightings(),
): Sieve => ({
  ...(run !== undefined && {
    open: async (batch) => {
      const versions = await versionsAsListed(client, of, batch);
      for (const { id } of versions) sightings.settle(id);
      const others = new Set(versions.filter(({ runId }) => runId !== run).map(({ place }) => place));
      return [...batch.keys()].filter((index) => !others.has(index));
    },
  }),
  take: async (batch) => {
    const known = new Map((await knownVersions(client, of, batch)).map((one) => [one.place, one]));
    for (const [index, file] of batch.entries()) {
      const version = known.get(index);
      if (version !== undefined) seen.set(version.id, { file, version });
      sightings.add(file, version);
    }
    return [];
  },
  end: async () => {
    const { followed } = await sightings.moves(client, of, table);
    for (const [{ file }, version] of followed) seen.set(version.id, { file, version });
    return takeEverything().end();
  },
});

const isGivenOnce = ({ readings }: SourceTableSpec): boolean =>
  readings.some(({ source }) => source.locations.includes('-'));

const listFiles = async (
  client: Client,
  spec: PipelineSpec,
  table: SourceTableSpec,
  settings: RunSettings,
  run: number | undefined,
  seen: Map<number, Seen>,
): Promise<string | undefined> => {
  if (isGivenOnce(table)) return 'it was read from standard input';
  const of = { pipeline: spec.name, schema: spec.schema, table: table.name };
  try {
    await planSources({ ...spec, tables: [table] }, settings, () =>
      createWatcher(client, of, table, run, seen),
    );
    return undefined;
  } catch (error) {
    if (error instanceof EtlError && ['ETL_SOURCE_NOT_FOUND', 'ETL_SOURCE_GONE'].includes(error.code))
      return undefined;
    throw error;
  }
};

const changedText = ({ runId, rolledBack }: LoadedFile): string =>
  rolledBack === null
    ? 'it has changed'
    : `run ${rolledBack.run} was rolled back by run ${rolledBack.by}, so that the version of run ${runId} is in production, and the file has changed`;

const reasonOf = (file: LoadedFile, seen: Seen | undefined, staged: string): string | undefined => {
  if (seen === undefined) return 'it is gone, or no longer listed';
  const { version, file: listed } = seen;
  if (!version.isSame) return `${changedText(file)} since run ${file.runId} loaded it`;
  if (version.isPartial) return 'some of its partitions were replaced while it was not listed';
  const { staged: before, reading } = file;
  if (
    before !== null &&
    !isShapedAlike({ staged: before, reading: reading ?? 0 }, { staged, reading: listed.reading })
  )
    return `the definition of the table, or a parameter, has changed since run ${file.runId}`;
  if (listed.misfit !== undefined) return 'its header does not fit the definition';
  if (file.staged === null && file.records !== file.rows)
    return `run ${file.runId} was pruned, so it is not known which ${plural(file.records - file.rows, 'record')} it left out`;
  return undefined;
};

export const filesInProduction = async (
  client: Client,
  spec: PipelineSpec,
  table: SourceTableSpec,
  settings: RunSettings,
  staged: string,
  run: number | undefined,
): Promise<readonly KnownFile[]> => {
  const seen = new Map<number, Seen>();
  const unlisted = await listFiles(client, spec, table, settings, run, seen);
  const loaded = await loadedFiles(client, { pipeline: spec.name, schema: spec.schema, table: table.name });
  return loaded.map((file): KnownFile => {
    const reason = unlisted ?? reasonOf(file, seen.get(file.id), staged);
    return {
      ...file,
      listed: reason === undefined ? seen.get(file.id)!.file : undefined,
      reason: reason ?? '',
      isRedefined: file.staged !== null && !isOfOneTable(file.staged, staged),
    };
  });
};
