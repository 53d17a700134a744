// Recognizes files that were moved or renamed since they were loaded, so that their rows are kept.
//
// A published version is free if its name is no longer listed, or listed with another content. A
// listed file that production lacks under this name, and that equals a free version, is that
// version. So two files may swap names, and a new file may take the name of a moved file. Proved by
// test/modes/moved-files.test.ts.

import { fileKey } from '../../ledger/run/decide.ts';
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
import type { PlannedTable } from './planned-table.ts';

/** `version`: what production has under the file's name; the file differs from it. */
export interface Unsettled {
  readonly file: NewFile;
  readonly version: KnownVersion | undefined;
}

export interface Moves {
  /** `isSame`: the new name gives the file's rows the same values. */
  readonly followed: ReadonlyMap<Unsettled, StoredVersion & Pick<KnownVersion, 'isSame'>>;
  /**
   * Files that cannot take over their new name, because production still has rows of another file
   * with that name.
   */
  readonly over: ReadonlyMap<Unsettled, StoredVersion>;
  readonly gone: ReadonlySet<number>;
}

/**
 * An identity without a time is equal for a moved file and a copy, so it counts only where copies
 * are refused.
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

/** The parts of the path, and the constants, that become values of the file's rows. */
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
  // A file can take over a name only from a version that has another name now.
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
  /** Ids of versions whose files are listed; `moves` adds those with other names. */
  readonly listed: number[] = [];
  /** Keyed by `fileKey`, because two locations may list the same file. */
  readonly unsettled = new Map<string, Unsettled>();
  readonly #settled = new Set<number>();

  settle(id: number): void {
    this.listed.push(id);
    this.#settled.add(id);
  }

  /** Returns true if the file is `version`, which has the same name. */
  add(file: Unsettled['file'], version: KnownVersion | undefined): version is KnownVersion {
    if (version?.isSame === true) {
      this.settle(version.id);
      return true;
    }
    if (version !== undefined) this.listed.push(version.id);
    this.unsettled.set(fileKey(file), { file, version });
    return false;
  }

  async see(
    client: Client,
    of: FilesOf,
    files: readonly NewFile[],
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
 * Rows do not change, so nothing is undone if the run fails. Errors: ETL_INCOMPLETE if somebody has
 * meanwhile replaced rows of one of the files.
 */
export const recordMoves = async (
  { client, spec }: Work,
  planned: readonly PlannedTable[],
): Promise<void> => {
  const moved = planned.flatMap(({ intake }) => intake.moved);
  if (moved.length === 0) return;
  await withTransaction(client, async () => {
    // The server expects few files in a JSON text, and would compare each file with all others in a
    // nested loop.
    await client.query('set local enable_nestloop = off');
    for (const query of moveFiles(spec.name, spec.schema, moved)) {
      const { rowCount } = await runQuery(client, query);
      if (rowCount === moved.length) continue;
      const problem = `${plural(moved.length, 'file')} of it were moved, but ${rowCount ?? 0} of them are in production`;
      throw new EtlError('ETL_INCOMPLETE', { table: moved[0]!.table, problem });
    }
  });
};
