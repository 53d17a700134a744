// Recognizes files that were moved or renamed since they were loaded: their rows stay, and the file state gets their new places.
//
// A version is free if its name is no longer listed with it: the name is gone, or has another content. A listed file that is not in
// production under its own name, and is the same as a free version, is that version. So two files may swap their names, and a new
// file may come under the name of one that was moved. Proved by test/modes/moved-files.test.ts.

import { fileKey } from '../../ledger/run/decide.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import { moveFiles, type MovedFile } from '../../ledger/production/moved-files.ts';
import {
  versionsLike,
  type FilesOf,
  type KnownVersion,
  type StoredVersion,
} from '../../ledger/production/published-files.ts';
import { runQuery, withTransaction, type Client } from '../../db/client.ts';
import type { SourceTableSpec } from '../../core/declaration/declaration.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { isOfPath, neededFields } from '../../format/rows/header-check.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { sourceNamed } from '../../input/sources/registry.ts';
import { plural } from '../../core/wording.ts';
import type { RunContext } from '../context.ts';
import type { PlannedTable } from './planned-table.ts';

/** A listed file that production does not have under its name as it is now; `version`: what production has under this name. */
export interface Unsettled {
  readonly file: Omit<NewFile, 'ordinal'>;
  readonly version: KnownVersion | undefined;
}

export interface Moves {
  /** The version that a file is, as if it had been loaded under its name now. */
  readonly followed: ReadonlyMap<Unsettled, StoredVersion & Pick<KnownVersion, 'isSame'>>;
  /**
   * The version that a file is although it has been moved over another file: it cannot take over the name, because production has rows
   * of the file that had it.
   */
  readonly over: ReadonlyMap<Unsettled, StoredVersion>;
  /** Versions that have other names now, by their ids. */
  readonly gone: ReadonlySet<number>;
}

/**
 * What a file keeps when it is moved. Without a time in it, it does not tell a moved file from a copy, so it counts only where copies are
 * not allowed.
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

/** Texts of the path and constants that become values of a file's rows. */
const textsOf = (
  { columns, filter, readings: [reading] }: SourceTableSpec,
  { name, constants }: Pick<NewFile, 'name' | 'constants'>,
): string => {
  const fields = fieldsOf({ name, header: [], constants: {} }, reading!.format.dialect);
  const parts = neededFields(columns, filter).filter(isOfPath);
  const values = Object.entries(constants).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([values, parts.map((part) => fields.textAt(fields.placeOf(part)) ?? null)]);
};

/** `settled`: versions that are listed as they are, by their ids. */
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
  /** The file that is listed under the name of a version. */
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
  // A name can be taken over only from a version that has another name now.
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

/** What a listing shows of the files of a table that are in production. */
export class Sightings {
  /** Versions whose files are listed, by their ids; those that have other names are added by `moves`. */
  readonly listed: number[] = [];
  /** By `fileKey`: two locations may list the same file. */
  readonly unsettled = new Map<string, Unsettled>();
  readonly #settled = new Set<number>();

  /** Adds a version that is listed as it was loaded. */
  settle(id: number): void {
    this.listed.push(id);
    this.#settled.add(id);
  }

  /** Adds a listed file with the version that has its name. Returns whether the file is that version. */
  add(file: Unsettled['file'], version: KnownVersion | undefined): version is KnownVersion {
    if (version?.isSame === true) {
      this.settle(version.id);
      return true;
    }
    if (version !== undefined) this.listed.push(version.id);
    this.unsettled.set(fileKey(file), { file, version });
    return false;
  }

  /** To be called when all files are listed. */
  async moves(client: Client, of: FilesOf, table: SourceTableSpec): Promise<Moves> {
    const moves = await findMoves(client, of, table, [...this.unsettled.values()], this.#settled);
    this.listed.push(...moves.gone);
    return moves;
  }
}

/** The version with this id, under the name of a file. */
export const movedTo = (
  { table, source, location, member, name, fingerprint }: Unsettled['file'],
  id: number,
): MovedFile => ({ id, table, source, location, member, name, fingerprint });

/**
 * Records the new names of files. Their rows stay as they are, so this is done when the run begins, by the holder of the pipeline's lock: a
 * run that fails later need not be told again. Errors: ETL_INCOMPLETE when somebody has meanwhile replaced the rows of one of the files.
 */
export const recordMoves = async (
  { client, spec }: Pick<RunContext, 'client' | 'spec'>,
  planned: readonly PlannedTable[],
): Promise<void> => {
  const moved = planned.flatMap(({ intake }) => intake.moved);
  if (moved.length === 0) return;
  await withTransaction(client, async () => {
    // The server does not know how many files are in a JSON text, and expects few: it would compare each with all.
    await client.query('set local enable_nestloop = off');
    for (const query of moveFiles(spec.name, spec.schema, moved)) {
      const { rowCount } = await runQuery(client, query);
      if (rowCount === moved.length) continue;
      const problem = `${plural(moved.length, 'file')} of it were moved, and it has ${rowCount ?? 0} of them`;
      throw new EtlError('ETL_INCOMPLETE', { table: moved[0]!.table, problem });
    }
  });
};
