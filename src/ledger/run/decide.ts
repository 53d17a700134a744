// What a run begins as: a continuation of an unfinished run, as a whole or table by table, or a new run, and why. Pure.
//
// One rule, whether the run before failed, was stopped or was killed. Rows in staging cannot be traced to their file, so a table
// keeps what is loaded of it as a whole, or not at all:
//
//   kept           what shapes its staged rows is the same, and so is every file of which something is loaded
//   loaded again   otherwise
//
// A file of which nothing is loaded may change, come or go. When no table keeps anything, a new run begins.

import type { SourceFile } from '../../core/model.ts';
import type { LatestRun, NewFile } from './ledger.ts';

/** A table of an unfinished run that is not as the run planned it. */
export interface TableChange {
  readonly table: string;
  /** What is loaded of it stays: only files of which nothing is loaded are others. */
  readonly isKept: boolean;
  readonly why: string;
}

export type Beginning =
  | { readonly kind: 'resume'; readonly runId: number; readonly changes: readonly TableChange[] }
  /** `why`: for the user, when there is an unfinished run that is not continued. */
  | { readonly kind: 'new'; readonly why: string | undefined };

/** A file of the latest run. */
export interface KnownFile extends SourceFile {
  /** Some of its rows are in staging. */
  readonly isLoaded: boolean;
}

/** What is known when a run begins. */
export interface Situation {
  readonly latest: LatestRun | undefined;
  /** Files of the latest run, and of now. */
  readonly before: readonly KnownFile[];
  readonly now: readonly NewFile[];
  /** Of each table with files: what shapes its staged rows. */
  readonly stagedHashes: Readonly<Record<string, string>>;
  /** Tables whose staging table is there. */
  readonly landings: ReadonlySet<string>;
  /** Tables of which a correction is loaded that was replaced by another one. */
  readonly recorrected: ReadonlySet<string>;
  /** The user asked to start over (`--fresh`, `--full-refresh`). */
  readonly fresh: boolean;
}

/** What a file of a table is known by, whatever is in it. */
export const fileKey = ({
  table,
  source,
  location,
  member,
}: Pick<NewFile, 'table' | 'source' | 'location' | 'member'>): string =>
  JSON.stringify([table, source, location, member]);

/** The same file with the same content, that is read in the same way. */
export const isSameFile = (one: NewFile, other: NewFile): boolean =>
  fileKey(one) === fileKey(other) && one.fingerprint === other.fingerprint && one.reading === other.reading;

/** The first of `files` that is not among `others` as it is. */
const firstChanged = (files: readonly NewFile[], others: readonly NewFile[]): NewFile | undefined => {
  const known = new Map(others.map((file) => [fileKey(file), file]));
  return files.find((file) => {
    const other = known.get(fileKey(file));
    return other === undefined || !isSameFile(file, other);
  });
};

const filesOf = <File extends NewFile>(files: readonly File[], name: string): readonly File[] =>
  files.filter(({ table }) => table === name);

/** What is different about a file that is gone or changed. */
const lostText = (lost: NewFile, now: readonly NewFile[]): string =>
  now.some((file) => fileKey(file) === fileKey(lost))
    ? `${lost.name} has changed`
    : `${lost.name} is no longer there`;

const changeOf = (situation: Situation, table: string): TableChange | undefined => {
  const { latest, stagedHashes, landings, recorrected } = situation;
  const again = (why: string): TableChange => ({ table, isKept: false, why });
  if (latest!.stagedHashes[table] !== stagedHashes[table])
    return again(`the definition changed since then (table ${table})`);
  if (!landings.has(table)) return again(`the staging table of ${table} is gone`);
  if (recorrected.has(table)) return again('a record that was corrected and loaded was corrected again');
  const [before, now] = [filesOf(situation.before, table), filesOf(situation.now, table)];
  const loaded = before.filter(({ isLoaded }) => isLoaded);
  const spoilt = firstChanged(loaded, now);
  if (spoilt !== undefined) return again(lostText(spoilt, now));
  const lost = firstChanged(before, now);
  const added = firstChanged(now, before);
  if (lost === undefined && added === undefined) return undefined;
  const why = lost === undefined ? `there is a new file, ${added!.name}` : lostText(lost, now);
  return { table, isKept: loaded.length > 0, why };
};

/** Decides. Only the newest run can be continued: a newer one has dropped its staging tables. */
export const decideBeginning = (situation: Situation): Beginning => {
  const { latest, before, stagedHashes, fresh } = situation;
  if (latest === undefined || latest.state === 'published') return { kind: 'new', why: undefined };
  const startOver = (why: string): Beginning => ({
    kind: 'new',
    why: `run ${latest.id} is unfinished; everything is loaded again, because ${why}`,
  });
  if (fresh) return startOver('you asked for it');
  if (latest.errorCode === 'ETL_INCOMPLETE')
    return startOver('its staging tables do not hold what the ledger says');
  if (latest.errorCode === 'ETL_ROWS_LOST') return startOver('it would have deleted rows of others');
  const changes = Object.keys(stagedHashes).flatMap((table) => changeOf(situation, table) ?? []);
  const lost = changes.find(({ isKept }) => !isKept);
  const isLost = (name: string): boolean =>
    !Object.hasOwn(stagedHashes, name) || changes.some(({ table, isKept }) => table === name && !isKept);
  const keepsSome = before.some(({ table, isLoaded }) => isLoaded && !isLost(table));
  if (lost !== undefined && !keepsSome) return startOver(lost.why);
  return { kind: 'resume', runId: latest.id, changes };
};
