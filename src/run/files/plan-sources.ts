// Lists the files of each table, and reads the beginning of files that may be needed.

import { fileKey } from '../../ledger/run/decide.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { PipelineSpec, SourceTableSpec } from '../../core/declaration.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import { stopSignal } from '../../core/stop.ts';
import type { RunSettings } from '../options.ts';
import { askedFiles } from './asked-files.ts';
import { refuseCopies } from './copies.ts';
import { foundFiles, inBatches, twiceFound, type Found } from './found-files.ts';
import { createSieve } from './needed-files.ts';
import { planFound, type PlannedFile } from './plan-file.ts';
import { stagingColumns, type PlannedTable } from './planned-table.ts';
import { takeEverything, type Judging, type Sieve } from './sieve.ts';

interface GroupedFile {
  readonly file: PlannedFile;
  readonly group: string;
}

const filesPerBatch = 1_000;

/**
 * Returns the planned files. Fails if two globs match the same member of an archive. Errors:
 * ETL_FILE_OPTIONS.
 */
const eachOnce = (found: readonly GroupedFile[]): readonly PlannedFile[] => {
  const seen = new Map<string, GroupedFile>();
  for (const one of found) {
    const { file, group } = one;
    const key = fileKey(file);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, one);
    else if (first.file.reading !== file.reading) throw twiceFound(file.table, file.name, first.group, group);
  }
  return [...seen.values()].map(({ file }) => file);
};

type SieveFor = (table: SourceTableSpec) => Sieve | Promise<Sieve>;

type Planning = Pick<RunSettings, 'workingDirectory'> & Partial<Pick<RunSettings, 'abort' | 'drain'>>;

const planTable = async (
  table: SourceTableSpec,
  planning: Planning,
  varied: PipelineSpec['varied'],
  sieveFor: SieveFor,
): Promise<PlannedTable> => {
  const { workingDirectory } = planning;
  const signal = stopSignal(planning);
  // Thousands of files usually have the same header, so equal headers share one object in memory.
  const headers = new Map<string, Pick<NewFile, 'header' | 'differs'>>();
  const planOne = async (one: Found): Promise<readonly GroupedFile[]> =>
    (await planFound(table, one, signal)).map((planned) => {
      const { header, differs } = planned;
      const key = JSON.stringify([header, differs]);
      const known = headers.get(key) ?? { header, differs };
      headers.set(key, known);
      return { file: { ...planned, ...known }, group: one.group };
    });
  const sieve = await sieveFor(table);
  const needed: GroupedFile[] = [];
  let some: Found | undefined;
  for await (const batch of inBatches(
    foundFiles(table, { workingDirectory, varied, signal }),
    filesPerBatch,
  )) {
    some ??= batch[0];
    const open = (await sieve.open?.(batch)) ?? batch.keys();
    const opened = [...open].map((place) => batch[place]!);
    const found = (await withFilesAtOnce(opened, planOne)).flat();
    const places = await sieve.take(found.map(({ file }) => file));
    for (const place of places) needed.push(found[place]!);
  }
  const { unneeded, ...intake } = await sieve.end();
  const files = eachOnce(
    unneeded === undefined ? needed : needed.filter(({ file }) => !unneeded.has(fileKey(file))),
  ).map((file, ordinal) => ({ ...file, ordinal }));
  for (const { misfit } of files) if (misfit !== undefined) throw misfit;
  // A text staging table gets its columns from a file, even if no file has to be loaded.
  const isShaped = files.length > 0 || table.staging !== 'text';
  const shaping = isShaped ? files : (await planOne(some!)).map(({ file }) => ({ ...file, ordinal: 0 }));
  return { table, files, staging: stagingColumns(table, shaping), intake };
};

/**
 * Plans the files of all tables. Reads only the first bytes of each file, and its end for
 * `skipEnd`. Without `sieveFor` all files are loaded. Errors: those of sources, headers and
 * `sieveFor`.
 */
export const planSources = async (
  spec: PipelineSpec,
  planning: Planning,
  sieveFor: SieveFor = takeEverything,
): Promise<readonly PlannedTable[]> => {
  const sources = spec.tables.filter((table) => table.kind === 'source');
  const planned: PlannedTable[] = [];
  for (const table of sources) planned.push(await planTable(table, planning, spec.varied, sieveFor));
  return planned;
};

/**
 * Plans the files that have to be loaded. Errors: those of `planSources` and `createSieve`,
 * ETL_FILE_UNKNOWN, ETL_FILE_COPY.
 */
export const planNeeded = async (
  judging: Omit<Judging, 'asked'> & Planning & Pick<RunSettings, 'reload' | 'unload'>,
): Promise<readonly PlannedTable[]> => {
  const asked = askedFiles(judging);
  const { spec } = judging;
  const planned = await planSources(spec, judging, (table) => createSieve({ ...judging, asked }, table));
  asked.refuseUnknown(spec.name);
  for (const table of planned) await refuseCopies(judging, table);
  return planned;
};
