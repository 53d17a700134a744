// What lists of files show: a hash that changes when a ready file arrives, changes or is gone.

import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { PipelineSpec, SourceTableSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import type { RunSettings } from '../options.ts';
import { msToSettle, unmarked } from './arrival.ts';
import { foundFiles, inBatches, type Found } from './found-files.ts';

interface Looking extends Pick<RunSettings, 'workingDirectory'> {
  readonly signal: AbortSignal;
}

/** Returns the versions of files, which most lists contain; undefined for a file that is not ready. */
const versionsOf = async (
  table: SourceTableSpec,
  batch: readonly Found[],
  signal: AbortSignal,
): Promise<readonly (string | undefined)[]> => {
  const now = Date.now();
  const settled = batch.filter((one) => msToSettle(table, one, now) === 0);
  const waiting = await unmarked(table, settled, signal);
  const ready = new Set(settled.filter((one) => !waiting.has(one)));
  return withFilesAtOnce(batch, async (one) => {
    const { source, file, reading } = one;
    if (!ready.has(one)) return undefined;
    if (file.version !== undefined) return file.version;
    const declared = table.readings[reading]!.source;
    return (await source.look({ table: table.name, ...file }, { declared, signal })).fingerprint;
  });
};

/** A folder that is not there is an error; one without files is not. */
const refuseNoFolder = async (error: EtlError): Promise<void> => {
  const { glob, directory } = error.details;
  if (typeof glob !== 'string' || typeof directory !== 'string' || glob.includes('://')) return;
  const folder = resolve(directory, dirname(glob.replace(/[!()*,?[\]{}].*$/s, '_')));
  await access(folder).catch(() => {
    throw error;
  });
};

interface Sighting {
  readonly seen: string;
  /** False if a table has no ready file yet. */
  readonly isComplete: boolean;
}

/** Lists the files of all tables. Errors: those of the sources. */
export const sightFiles = async (
  { tables, varied }: PipelineSpec,
  { workingDirectory, signal }: Looking,
): Promise<Sighting> => {
  const hash = createHash('sha256');
  let isComplete = true;
  for (const table of tables) {
    if (table.kind !== 'source') continue;
    const listing = foundFiles(table, { workingDirectory, varied, signal });
    let ready = 0;
    try {
      for await (const batch of inBatches(listing))
        for (const [place, version] of (await versionsOf(table, batch, signal)).entries()) {
          if (version === undefined) continue;
          const { file, member } = batch[place]!;
          hash.update(`${JSON.stringify([table.name, file.location, member, version])}\n`);
          ready += 1;
        }
    } catch (error) {
      if (!(error instanceof EtlError) || error.code !== 'ETL_SOURCE_NOT_FOUND') throw error;
      await refuseNoFolder(error);
    }
    isComplete &&= ready > 0;
  }
  return { seen: hash.digest('base64url'), isComplete };
};
