// Stores corrections of rejected records for the next run, and withdraws them.

import { keepCorrections, withdrawCorrections } from '../ledger/rejects/corrections.ts';
import { latestRun, runFiles } from '../ledger/run/ledger.ts';
import type { Client } from '../db/client.ts';
import { codeOf, EtlError } from '../core/errors/errors.ts';
import type { SourceFile } from '../core/model.ts';
import { localFiles } from '../input/sources/local-files.ts';
import { plainFile, withRecords, type Origin } from './correction-records.ts';

export interface ReadCorrections {
  readonly runId: number;
  readonly pipeline: string;
  readonly table: string;
  readonly corrections: number;
  readonly added: number;
  /** Number of records without a correction: in the CSV file, their `_record` is not empty. */
  readonly uncorrected: number;
}

const refuseChanged = async (
  client: Client,
  { pipeline, runId, table }: Origin,
  corrected: ReadonlyMap<number, SourceFile>,
): Promise<void> => {
  const changed = (name: string): EtlError =>
    new EtlError('ETL_CORRECTIONS', {
      problem: `${name} has changed since run ${runId} rejected its records`,
      hint: `Run the pipeline again, and export the rejects of that run: the corrected records may have changed, too.`,
    });
  const newest = (await latestRun(client, pipeline))!.id;
  const now = new Map(
    (await runFiles(client, newest))
      .filter((file) => file.table === table)
      .map((file) => [JSON.stringify([file.source, file.location, file.member]), file]),
  );
  for (const file of corrected.values()) {
    const { source, location, member, name, fingerprint } = file;
    const known = now.get(JSON.stringify([source, location, member]));
    if (known !== undefined && known.fingerprint !== fingerprint) throw changed(name);
    if (source !== localFiles.name || member !== null) continue;
    const state = await localFiles.look(file, plainFile).catch((cause: unknown) => {
      // The source file may be on another machine. The next run checks it.
      if (codeOf(cause) === 'ENOENT') return undefined;
      throw cause;
    });
    if (state !== undefined && state.fingerprint !== fingerprint) throw changed(name);
  }
};

/**
 * Stores all corrections of a CSV file in one transaction. Existing corrections are not changed.
 * Errors: ETL_CORRECTIONS (not an export, or a source file has changed), ETL_RUN_UNKNOWN,
 * ETL_RUN_LOCKED, ETL_USAGE.
 */
export const readCorrections = async (
  client: Client,
  name: string,
  workingDirectory: string,
): Promise<ReadCorrections> => {
  const corrected = new Map<number, SourceFile>();
  const counts = { corrections: 0, added: 0, uncorrected: 0 };
  const { runId, pipeline, table } = await withRecords(client, name, workingDirectory, {
    take: async (records, { runId: run, files }, invalid) => {
      const corrections = records.filter(({ isCorrected }) => isCorrected);
      for (const one of corrections) corrected.set(one.fileId, files.get(one.name)!);
      const { added, given, unknownLine } = await keepCorrections(client, run, name, corrections);
      if (unknownLine !== null)
        throw invalid(
          unknownLine,
          `run ${run} has rejected no record at this byte of this file`,
          'If the run has loaded the file again since the export, export its rejects again.',
        );
      counts.added += added;
      counts.corrections += given;
      counts.uncorrected += records.length - corrections.length;
    },
    finish: (origin) => refuseChanged(client, origin, corrected),
  });
  return { runId, pipeline, table, ...counts };
};

export interface Withdrawn {
  readonly runId: number;
  readonly pipeline: string;
  readonly table: string;
  readonly records: number;
  readonly withdrawn: number;
}

/**
 * Deletes the stored corrections of all records in a CSV file; the records remain rejected.
 * Errors: ETL_CORRECTIONS if a correction is already loaded, and those of readCorrections.
 */
export const takeBackCorrections = async (
  client: Client,
  name: string,
  workingDirectory: string,
): Promise<Withdrawn> => {
  const counts = { records: 0, withdrawn: 0 };
  const { runId, pipeline, table } = await withRecords(client, name, workingDirectory, {
    take: async (records, origin, invalid) => {
      const { withdrawn, loadedLine, loadedBy } = await withdrawCorrections(client, origin.runId, records);
      if (loadedLine !== null)
        throw invalid(
          loadedLine,
          `run ${loadedBy} has loaded the correction of this record`,
          'Remove the line to withdraw the others. A loaded record is changed by another correction, with `etl rejects replay`.',
        );
      counts.records += records.length;
      counts.withdrawn += withdrawn;
    },
  });
  return { runId, pipeline, table, ...counts };
};
