// For a table whose other rows are kept: decides which files are loaded, and which files lose their
// rows.

import type { NewFile } from '../../ledger/run/ledger.ts';
import type { MovedFile } from '../../ledger/production/moved-files.ts';
import {
  goneFiles,
  versionsAt,
  type FilesOf,
  type KnownVersion,
  type PublishedFile,
} from '../../ledger/production/published-files.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { fileColumn } from '../../db/names.ts';
import { sourceNamed } from '../../input/sources/registry.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import type { Meaning } from '../../publish/table/meaning.ts';
import type { Outgoing } from '../../publish/table/tables.ts';
import { versionsAsListed } from './as-listed.ts';
import type { Wish } from './asked-files.ts';
import { movedTo, Sightings } from './moves.ts';
import { CountedFiles } from './counted.ts';
import type { Holder, PlannedFile } from './held-files.ts';
import type { BasisFound, Judging, Sieve } from './sieve.ts';

/**
 * File versions whose rows are deleted, each once although two locations may list the same file.
 */
const createLeaving = () => {
  const files = new Set<number>();
  const unloaded = new Set<number>();
  const superseded = new Set<number>();
  return {
    supersede: ({ id }: PublishedFile): void => void superseded.add(id),
    add: ({ id }: PublishedFile, wish?: Wish): void => {
      files.add(id);
      if (wish === 'unload') unloaded.add(id);
    },
    count: (): number => files.size + superseded.size,
    outgoing: (listed?: readonly number[]): Outgoing => ({
      files: [...files],
      unloaded: [...unloaded],
      ...(superseded.size > 0 && { superseded: [...superseded] }),
      ...(listed && { stays: listed.filter((id) => !files.has(id)) }),
    }),
  };
};

/** Returns the error of files that changed since they were loaded, where nothing else is declared. */
export const changedError = ({ name: table, columns, publish }: SourceTableSpec, files: string): EtlError => {
  const { name: mode, rowsKnownBy } = meaningOf(publish);
  const isKnown = rowsKnownBy === 'key' || columns.some(({ name }) => name === fileColumn);
  const once = isKnown ? '' : ', after one run with --full-refresh, which records the file of each row';
  const hint = `Choose what happens: publish: { mode: '${mode}', changed: 'reload' } loads changed files again${once}; changed: 'ignore' keeps the rows as they are`;
  return new EtlError('ETL_FILE_CHANGED', { table, files, hint });
};

const reportLeft = (
  { report }: Judging,
  spec: SourceTableSpec,
  choice: Meaning['changed'],
  changed: CountedFiles,
  corrected: CountedFiles,
): void => {
  if (changed.count > 0 && choice === 'error') throw changedError(spec, changed.text());
  const { name: table } = spec;
  const announce = (message: string): void =>
    report.emit({ type: 'notice', message: `${table}: ${message}` });
  if (changed.count > 0)
    announce(
      `files have changed since they were loaded, and their rows are kept as they are: ${changed.text()}`,
    );
  if (corrected.count > 0)
    announce(
      `records were corrected after their files were loaded, and need changed: 'reload' to be loaded: ${corrected.text()}`,
    );
};

const wishOf = (
  { asked }: Judging,
  { name: table, columns, publish }: SourceTableSpec,
  file: Pick<NewFile, 'name' | 'location'>,
): Wish | undefined => {
  const wish = asked.wishOf(file);
  if (wish === undefined || wish === 'again') return wish;
  const { name: mode, rowsKnownBy } = meaningOf(publish);
  const isByFile = rowsKnownBy === 'file';
  const isPossible = isByFile ? columns.some(({ name }) => name === fileColumn) : wish === 'reload';
  if (isPossible) return wish;
  const hint = isByFile
    ? "Declare publish: { mode: 'append', changed: 'reload' }, which records the file of each row, and run once with --full-refresh."
    : `With mode: '${mode}' the row of a key may combine several files. Correct the file and run, or reload it.`;
  throw new EtlError('ETL_FILE_LINEAGE', { table, file: file.name, hint });
};

const createJudge = (spec: SourceTableSpec, { changed: choice, rowsKnownBy }: Meaning, { holds }: Holder) => {
  const leaving = createLeaving();
  /** Files whose old rows are kept although the file changed, or its rejects were corrected. */
  const left = { changed: new CountedFiles(), corrected: new CountedFiles() };
  const taken = { changed: new CountedFiles(), again: new CountedFiles(), unloaded: new CountedFiles() };
  let out = 0;
  /** True if the file has changed, and that holds back the file instead of stopping the run. */
  const isHeldAsChanged = (file: PlannedFile): boolean =>
    choice === 'error' && holds(file, file.misfit ?? changedError(spec, file.name));
  const isNeeded = (
    file: PlannedFile,
    known: Omit<KnownVersion, 'place'>,
    wish: Wish | undefined,
  ): boolean => {
    const { name, isSame, isPartial, isCorrected, isUnloaded } = known;
    if (wish === 'unload') {
      out += 1;
      if (isUnloaded) return false;
      leaving.add(known, wish);
      taken.unloaded.add(name);
      return false;
    }
    const isChanged = !isSame || isPartial;
    const isOther = isChanged || (isCorrected && !isUnloaded);
    const isNew = wish === 'again' || (isChanged && sourceNamed(file.source).isNameless === true);
    if (rowsKnownBy === 'file' && choice !== 'reload' && isNew) {
      if (holds(file)) return false;
      leaving.supersede(known);
      (isChanged ? taken.changed : taken.again).add(name);
      return true;
    }
    if (wish === 'reload' || wish === 'again' || (choice === 'reload' && isOther)) {
      if (holds(file)) return false;
      leaving.add(known);
      (isChanged ? taken.changed : taken.again).add(name);
      return true;
    }
    if (isUnloaded) out += 1;
    else if (isChanged && isHeldAsChanged(file)) return false;
    else if (isOther) (isChanged ? left.changed : left.corrected).add(name);
    return false;
  };
  return { isNeeded, leaving, left, taken, staysOut: (): number => out };
};

const settle = async (
  judging: Judging,
  spec: SourceTableSpec,
  of: FilesOf,
  seen: Sightings,
  { isNeeded, leaving }: ReturnType<typeof createJudge>,
  { holds }: Holder,
) => {
  const { followed, over, gone } = await seen.moves(judging.client, of, spec);
  const moved: MovedFile[] = [];
  const unneeded = new Set<string>();
  const [added, names] = [new CountedFiles(), new CountedFiles()];
  for (const [key, one] of seen.unsettled) {
    const { file, version } = one;
    const from = followed.get(one);
    if (from !== undefined) {
      moved.push(movedTo(file, from.id));
      names.add(`${from.name} → ${file.name}`);
      const name = from.isSame ? file.name : `${file.name} (${from.name}, whose path has other values)`;
      const wish = wishOf(judging, spec, file) ?? wishOf(judging, spec, from);
      if (!isNeeded(file, { ...from, name }, wish)) unneeded.add(key);
    } else if (version === undefined || gone.has(version.id)) {
      if (holds(file)) unneeded.add(key);
      else added.add(file.name);
    } else if (isNeeded(file, version, wishOf(judging, spec, file))) {
      const overwriting = over.get(one);
      if (overwriting !== undefined) leaving.add(overwriting);
    } else unneeded.add(key);
  }
  if (names.count > 0) {
    const message = `${of.table}: files were moved or renamed since they were loaded, and their rows are kept: ${names.text()}`;
    judging.report.emit({ type: 'notice', message });
  }
  return { added, moved, unneeded };
};

/** Returns the files that are no longer listed; their rows may leave. */
const takeGone = async (
  judging: Judging,
  spec: SourceTableSpec,
  of: FilesOf,
  listed: readonly number[],
  { leaving, taken }: ReturnType<typeof createJudge>,
): Promise<CountedFiles> => {
  const missing = new CountedFiles();
  const unloads = meaningOf(spec.publish).gone === 'unload';
  // There may be many unlisted files, so they are queried only if something depends on them.
  const isWanted = unloads || judging.asked.hasAny || judging.countsGone === true;
  for (const file of isWanted ? await goneFiles(judging.client, of, listed) : []) {
    const wish = wishOf(judging, spec, file);
    const isAskedFor = wish === 'unload' && !file.isUnloaded && !unloads;
    if (unloads || isAskedFor) leaving.add(file, isAskedFor ? wish : undefined);
    if (isAskedFor) taken.unloaded.add(file.name);
    else if (!file.isUnloaded) missing.add(file.name);
  }
  return missing;
};

export const takeNew = (
  judging: Judging,
  spec: SourceTableSpec,
  of: FilesOf,
  holder: Holder,
  basis: BasisFound,
): Sieve => {
  const { client } = judging;
  const mode = meaningOf(spec.publish);
  const seen = new Sightings();
  const judge = createJudge(spec, mode, holder);
  const { isNeeded, leaving, left, taken, staysOut } = judge;
  let files = 0;
  return {
    open: async (found) => {
      const versions = (await versionsAsListed(client, of, found)).filter(
        ({ place }) => wishOf(judging, spec, found[place]!.file) === undefined,
      );
      for (const { id } of versions) seen.settle(id);
      const settled = new Set(versions.map(({ place }) => place));
      files += settled.size;
      return [...found.keys()].filter((place) => !settled.has(place));
    },
    take: async (batch) => {
      files += batch.length;
      const versions = await seen.see(client, of, batch);
      return [...batch.keys()].filter((index) => {
        const version = versions[index];
        const file = batch[index]!;
        return version?.isSame !== true || isNeeded(file, version, wishOf(judging, spec, file));
      });
    },
    keep: async (found) => {
      files += found.length;
      for (const id of await versionsAt(client, of, found)) seen.settle(id);
    },
    end: async () => {
      const { added, moved, unneeded } = await settle(judging, spec, of, seen, judge, holder);
      reportLeft(judging, spec, mode.changed, left.changed, left.corrected);
      const missing = await takeGone(judging, spec, of, seen.listed, judge);
      return {
        extent: 'part',
        listed: files,
        added,
        ...taken,
        unchanged:
          files - added.count - taken.changed.count - taken.again.count - staysOut() - holder.held.length,
        gone: missing,
        goneRows: mode.gone === 'unload' ? 'leave' : 'stay',
        outgoing: leaving.outgoing(mode.replacesPartitions === true ? seen.listed : undefined),
        basis: { ...basis, listed: seen.listed, said: new Set() },
        hasWork: added.count + leaving.count() > 0,
        moved,
        unneeded,
      };
    },
  };
};
