// Lists the files of each table, and reads the beginning of files that may be needed.

import { placeKey } from '../../ledger/run/decide.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { PipelineSpec, SourceTableSpec } from '../../core/declaration.ts';
import { askTogether } from '../../db/ask-together.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { filesAtOnceMax, withFilesAtOnce } from '../../input/sources/at-once.ts';
import { stopSignal } from '../../core/stop.ts';
import { createTurns, type InTurn } from '../../core/turns.ts';
import type { RunSettings } from '../options.ts';
import { unmarked, untilSettled } from './arrival.ts';
import { askedFiles } from './asked-files.ts';
import { refuseCopies } from './copies.ts';
import { foundFiles, inBatches, twiceFound, type Found } from './found-files.ts';
import { createSieve } from './needed-files.ts';
import { filesHeld, createHolder, withOneHeader, type Holder, type PlannedFile } from './held-files.ts';
import { planFound } from './plan-file.ts';
import { stagingColumns, type PlannedTable } from './planned-table.ts';
import { takeEverything, type Judging, type Sieve } from './sieve.ts';

/**
 * Fails if two globs match the same member of an archive: nothing else is listed twice. Errors:
 * ETL_FILE_OPTIONS.
 */
const eachOnce = (
  found: readonly PlannedFile[],
  groups: ReadonlyMap<PlannedFile, string>,
): readonly PlannedFile[] => {
  const seen = new Map<string, PlannedFile>();
  return found.filter((file) => {
    if (file.member === null) return true;
    const key = placeKey(file);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, file);
    else if (first.reading !== file.reading)
      throw twiceFound(file.table, file.name, groups.get(first)!, groups.get(file)!);
    return first === undefined;
  });
};

type SieveFor = (table: SourceTableSpec, holder: Holder) => Sieve | Promise<Sieve>;

type Planning = Pick<RunSettings, 'workingDirectory'> & Partial<Pick<RunSettings, 'abort' | 'drain'>>;

/** Holds nothing back: every error of a file is thrown. */
const holdsNothing: Holder = { held: [], holds: () => false };

/** Reads the beginnings of files. `unread`: files that cannot be read, and are held back. */
const planBatch = async (
  table: SourceTableSpec,
  found: readonly Found[],
  signal: AbortSignal | undefined,
  { holds }: Holder,
  sharing: (file: PlannedFile, group: string) => PlannedFile,
  inTurn: InTurn,
): Promise<{ readonly read: readonly PlannedFile[]; readonly unread: ReadonlySet<Found> }> => {
  await untilSettled(table, found, signal);
  const waiting = await unmarked(table, found, signal);
  const unread = new Set<Found>();
  const planOne = async (one: Found): Promise<readonly PlannedFile[]> => {
    const { source, file, member = null, reading, group } = one;
    try {
      const planned = await inTurn(() => planFound(table, one, signal, waiting.get(one)));
      return planned.map((each) => sharing(each, group));
    } catch (error) {
      const named = { ...file, table: table.name, source: source.name, member, reading, fingerprint: null };
      if (!(error instanceof EtlError) || !holds(named, error)) throw error;
      unread.add(one);
      return [];
    }
  };
  return { read: (await withFilesAtOnce(found, planOne)).flat(), unread };
};

const planTable = async (
  table: SourceTableSpec,
  planning: Planning,
  varied: PipelineSpec['varied'],
  sieveFor: SieveFor,
  holderOfTable: Holder,
  inTurn: InTurn,
): Promise<PlannedTable> => {
  const { workingDirectory } = planning;
  const signal = stopSignal(planning);
  // Thousands of files usually have the same header, so equal headers share one object in memory.
  const headers = new Map<string, Pick<NewFile, 'header' | 'differs'>>();
  // Kept aside, and only of members: a table may list thousands of locations, which are one group.
  const groups = new Map<PlannedFile, string>();
  const sharing = (planned: PlannedFile, group: string): PlannedFile => {
    const { header, differs, member } = planned;
    if (member !== null) groups.set(planned, group);
    const key = JSON.stringify([header, differs]);
    const known = headers.get(key) ?? { header, differs };
    headers.set(key, known);
    return Object.assign(planned, known);
  };
  const holder = table.staging === 'text' ? withOneHeader(table, holderOfTable) : holderOfTable;
  const sieve = await sieveFor(table, holder);
  const needed: PlannedFile[] = [];
  let some: Found | undefined;
  for await (const batch of inBatches(foundFiles(table, { workingDirectory, varied, signal }))) {
    const open = (await sieve.open?.(batch)) ?? batch.keys();
    const opened = [...open].map((place) => batch[place]!);
    const { read, unread } = await planBatch(table, opened, signal, holder, sharing, inTurn);
    some ??= batch.find((one) => !unread.has(one));
    const places = await sieve.take(read);
    for (const place of places) needed.push(read[place]!);
    if (unread.size > 0) await sieve.keep?.([...unread]);
  }
  const { unneeded, ...intake } = await sieve.end();
  const files = eachOnce(
    unneeded === undefined ? needed : needed.filter((file) => !unneeded.has(placeKey(file))),
    groups,
  ).map((file, ordinal) => Object.assign(file, { ordinal }));
  for (const { misfit } of files) if (misfit !== undefined) throw misfit;
  // A text staging table gets its columns from a file, even if no file has to be loaded.
  const isShaped = files.length > 0 || table.staging !== 'text' || some === undefined;
  const shaping = isShaped ? files : await planFound(table, some!, signal);
  return { table, files, staging: stagingColumns(table, shaping), intake, held: holder.held };
};

/**
 * Plans the files of all tables side by side, because each waits for the server. Reads only the
 * first bytes of each file, and its end for `skipEnd`. Without `sieveFor` all files are loaded.
 * Errors: those of sources, headers and `sieveFor`.
 */
export const planSources = async (
  spec: PipelineSpec,
  planning: Planning,
  sieveFor: SieveFor = takeEverything,
  holderFor: (table: SourceTableSpec) => Holder = () => holdsNothing,
): Promise<readonly PlannedTable[]> => {
  const sources = spec.tables.filter((table) => table.kind === 'source');
  const inTurn = createTurns(filesAtOnceMax);
  return withFilesAtOnce(
    sources,
    (table) => planTable(table, planning, spec.varied, sieveFor, holderFor(table), inTurn),
    Infinity,
  );
};

/**
 * Plans the files that have to be loaded. Errors: those of `planSources` and `createSieve`,
 * ETL_FILE_UNKNOWN, ETL_FILE_COPY, ETL_FILES_HELD.
 */
export const planNeeded = async (
  judging: Omit<Judging, 'asked'> & Planning & Pick<RunSettings, 'reload' | 'unload' | 'again'>,
): Promise<readonly PlannedTable[]> => {
  const asked = askedFiles(judging);
  const { spec, isFullRefresh, known } = judging;
  const [planned] = await askTogether(judging.client, () => [
    planSources(
      spec,
      judging,
      (table, holder) => createSieve({ ...judging, asked }, table, holder),
      (table) => createHolder(table, isFullRefresh, known, (file) => asked.wishOf(file) === 'reload'),
    ),
  ]);
  asked.refuseUnknown(spec.name);
  for (const { table, held, files, staging, intake } of planned)
    if (held.length > 0 && files.length === 0 && (intake.extent === 'whole' || staging.length === 0))
      throw filesHeld(table.name, held);
  await askTogether(judging.client, () => planned.map((table) => refuseCopies(judging, table)));
  return planned;
};
