// Recognizes files that were moved or renamed since they were loaded, so that their rows are kept.
//
// A version in production is free if its name is no longer listed, or is listed with other content.
// A listed file that production does not have under its name, but that equals a free version, is
// that file, renamed. So two files may swap names, and a new file may take the name of a moved
// file. Proved by test/modes/moved-files.test.ts.

import { placeKey } from '../../ledger/run/decide.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import { moveFiles, type MovedFile } from '../../ledger/production/moved-files.ts';
import {
  knownVersions,
  versionsLike,
  type FilesOf,
  type KnownVersion,
  type StoredVersion,
} from '../../ledger/production/published-files.ts';
import { runQuery, withTransaction, type Client } from '../../db/client.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { isOfPath, neededFields } from '../../format/rows/header-check.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { sourceNamed } from '../../input/sources/registry.ts';
import { plural } from '../../core/wording.ts';
import type { Work } from '../context.ts';
import type { PlannedFile } from './held-files.ts';
import type { PlannedTable } from './planned-table.ts';

/** A listed file that differs from `version`, which production has under the same name. */
export interface Unsettled {
  readonly file: PlannedFile;
  readonly version: KnownVersion | undefined;
}

export interface Moves {
  /** Files that were renamed. `isSame`: no value of their rows depends on the name. */
  readonly followed: ReadonlyMap<Unsettled, StoredVersion & Pick<KnownVersion, 'isSame'>>;
  /**
   * Renamed files that cannot take their new name, because production still has rows of another
   * file with that name.
   */
  readonly over: ReadonlyMap<Unsettled, StoredVersion>;
  readonly gone: ReadonlySet<number>;
}

/**
 * Returns a text that identifies a renamed file. Without a time in it, a copy has the same text, so
 * it is used only where copies are refused.
 */
const identityOf = (
  { copies }: SourceTableSpec,
  { source, member, fingerprint }: Pick<NewFile, 'source' | 'member' | 'fingerprint'>,
): string | undefined => {
  const { identityOf: ofSource, contentOf } = sourceNamed(source);
  const identity = ofSource?.(fingerprint);
  if (identity === undefined || (copies === 'load' && identity === contentOf?.(fingerprint)))
    return undefined;
  return JSON.stringify([source, member, identity]);
};

/** Returns the constants and the parts of the path that become values in the file's rows. */
const textsOf = (
  { columns, filter, readings: [reading] }: SourceTableSpec,
  { name, constants }: Pick<NewFile, 'name' | 'constants'>,
): string => {
  const fields = fieldsOf({ name, header: [], constants: {} }, reading!.format.dialect);
  const parts = neededFields(columns, filter).filter(isOfPath);
  const values = Object.entries(constants).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([values, parts.map((part) => fields.textAt(fields.indexOf(part)) ?? null)]);
};

const findMoves = async (
  client: Client,
  of: FilesOf,
  table: SourceTableSpec,
  files: readonly Unsettled[],
  settled: ReadonlySet<number>,
): Promise<Moves> => {
  const followed = new Map<Unsettled, StoredVersion & Pick<KnownVersion, 'isSame'>>();
  const over = new Map<Unsettled, StoredVersion>();
  const gone = new Set<number>();
  if (files.length === 0) return { followed, over, gone };
  const named = new Map(files.flatMap((one) => (one.version === undefined ? [] : [[one.version.id, one]])));
  const free = new Map<string, StoredVersion[]>();
  for (const version of await versionsLike(
    client,
    of,
    files.map(({ file }) => file),
  )) {
    const identity = identityOf(table, version);
    const successor = named.get(version.id);
    const isThere = successor !== undefined && identityOf(table, successor.file) === identity;
    if (identity === undefined || isThere || settled.has(version.id)) continue;
    const same = free.get(identity);
    if (same === undefined) free.set(identity, [version]);
    else same.push(version);
  }
  for (const one of files) {
    const version = free.get(identityOf(table, one.file) ?? '')?.shift();
    if (version === undefined) continue;
    const known = { ...one.file, name: version.name, constants: version.constants ?? one.file.constants };
    followed.set(one, { ...version, isSame: textsOf(table, known) === textsOf(table, one.file) });
    gone.add(version.id);
  }
  // A file can take a name only if the version that had this name was renamed as well.
  for (const first of files) {
    let next: Unsettled | undefined = first;
    while (next !== undefined) {
      const version: StoredVersion | undefined = followed.get(next);
      if (version === undefined || next.version === undefined || gone.has(next.version.id)) break;
      over.set(next, version);
      followed.delete(next);
      gone.delete(version.id);
      next = named.get(version.id);
    }
  }
  return { followed, over, gone };
};

export class Sightings {
  /** Ids of versions whose files are listed. `moves` adds the renamed files. */
  readonly listed: number[] = [];
  /** Has `placeKey` as key, because two locations may list the same file. */
  readonly unsettled = new Map<string, Unsettled>();
  readonly #settled = new Set<number>();

  settle(id: number): void {
    this.listed.push(id);
    this.#settled.add(id);
  }

  /**
   * Returns true if the file has not changed since `version`, which has the same name, was loaded.
   */
  add(file: Unsettled['file'], version: KnownVersion | undefined): version is KnownVersion {
    if (version?.isSame === true) {
      this.settle(version.id);
      return true;
    }
    if (version !== undefined) this.listed.push(version.id);
    this.unsettled.set(placeKey(file), { file, version });
    return false;
  }

  async see(
    client: Client,
    of: FilesOf,
    files: readonly PlannedFile[],
  ): Promise<readonly (KnownVersion | undefined)[]> {
    const known = new Map((await knownVersions(client, of, files)).map((one) => [one.place, one]));
    for (const [index, file] of files.entries()) this.add(file, known.get(index));
    return files.map((_, index) => known.get(index));
  }

  async moves(client: Client, of: FilesOf, table: SourceTableSpec): Promise<Moves> {
    const moves = await findMoves(client, of, table, [...this.unsettled.values()], this.#settled);
    this.listed.push(...moves.gone);
    return moves;
  }
}

export const movedTo = (
  { table, source, location, member, name, fingerprint }: Unsettled['file'],
  id: number,
): MovedFile => ({ id, table, source, location, member, name, fingerprint });

/**
 * Records the new names. No rows change, so a failed run has nothing to undo. Errors:
 * ETL_INCOMPLETE if somebody has meanwhile replaced rows of one of the files.
 */
export const recordMoves = async (
  { client, spec }: Work,
  planned: readonly PlannedTable[],
): Promise<void> => {
  const moved = planned.flatMap(({ intake }) => intake.moved);
  if (moved.length === 0) return;
  await withTransaction(client, async () => {
    // The planner expects few files in a JSON text, and would compare each file with all others in
    // a nested loop.
    await client.query('set local enable_nestloop = off');
    for (const query of moveFiles(spec.name, spec.schema, moved)) {
      const { rowCount } = await runQuery(client, query);
      if (rowCount === moved.length) continue;
      const problem = `${plural(moved.length, 'file')} of it were moved, but ${rowCount ?? 0} of them are in production`;
      throw new EtlError('ETL_INCOMPLETE', { table: moved[0]!.table, problem });
    }
  });
};
