// Decides, without I/O, whether to begin a new run or to continue an unfinished one.
//
// Staged rows do not name their file, so a table is kept as a whole or loaded again as a whole.
// A table is kept if the definition of its staged rows and its files with loaded chunks are
// unchanged; its other files may change. If no table is kept, a new run begins.

import type { SourceFile } from '../../core/model.ts';
import type { LatestRun, NewFile } from './ledger.ts';

/** A table whose definition, files or staging table differ from the unfinished run's plan. */
export interface TableChange {
  readonly table: string;
  /** True if only files without loaded chunks differ. */
  readonly isKept: boolean;
  readonly why: string;
}

export type Beginning =
  | { readonly kind: 'resume'; readonly runId: number; readonly changes: readonly TableChange[] }
  /** Why the newest run is not continued; undefined if it was published, or there is none. */
  | { readonly kind: 'new'; readonly why: string | undefined };

export interface KnownFile extends SourceFile {
  readonly isLoaded: boolean;
}

export interface Situation {
  readonly latest: LatestRun | undefined;
  readonly before: readonly KnownFile[];
  readonly now: readonly NewFile[];
  /** By table: hash of the definition of its staged rows. */
  readonly stagedHashes: Readonly<Record<string, string>>;
  /** Tables whose staging table exists. */
  readonly landings: ReadonlySet<string>;
  /** Tables from whose staging table rows have vanished. */
  readonly vanished: ReadonlySet<string>;
  /** Tables with a loaded correction that was later replaced by another correction. */
  readonly recorrected: ReadonlySet<string>;
  readonly fresh: boolean;
  /** Files that are held back, by `fileKey`. */
  readonly held?: ReadonlySet<string>;
}

export const fileKey = ({
  table,
  source,
  location,
  member,
}: Pick<NewFile, 'table' | 'source' | 'location' | 'member'>): string =>
  JSON.stringify([table, source, location, member]);

/** As `fileKey` of the files of one table. Most files share the text of their location with it. */
export const placeKey = ({ location, member }: Pick<NewFile, 'location' | 'member'>): string =>
  member === null ? location : `${location}\0${member}`;

export const isSameFile = (one: NewFile, other: NewFile): boolean =>
  fileKey(one) === fileKey(other) && one.fingerprint === other.fingerprint && one.reading === other.reading;

const firstChanged = (files: readonly NewFile[], others: readonly NewFile[]): NewFile | undefined => {
  const known = new Map(others.map((file) => [fileKey(file), file]));
  return files.find((file) => {
    const other = known.get(fileKey(file));
    return other === undefined || !isSameFile(file, other);
  });
};

const filesOf = <File extends NewFile>(files: readonly File[], name: string): readonly File[] =>
  files.filter(({ table }) => table === name);

const lossOfFile = (lost: NewFile, { now, held }: Situation): string => {
  const key = fileKey(lost);
  if (now.some((file) => fileKey(file) === key)) return `${lost.name} has changed`;
  return held?.has(key) === true ? `${lost.name} is held back` : `${lost.name} is no longer there`;
};

const changeOf = (situation: Situation, table: string): TableChange | undefined => {
  const { latest, stagedHashes, landings, vanished, recorrected } = situation;
  const again = (why: string): TableChange => ({ table, isKept: false, why });
  if (latest!.stagedHashes[table] !== stagedHashes[table])
    return again(`the definition changed since then (table ${table})`);
  if (!landings.has(table)) return again(`the staging table of ${table} is gone`);
  if (vanished.has(table)) return again(`rows have vanished from the staging table of ${table}`);
  if (recorrected.has(table)) return again('a record that was corrected and loaded was corrected again');
  const [before, now] = [filesOf(situation.before, table), filesOf(situation.now, table)];
  const loaded = before.filter(({ isLoaded }) => isLoaded);
  const spoilt = firstChanged(loaded, now);
  if (spoilt !== undefined) return again(lossOfFile(spoilt, situation));
  const lost = firstChanged(before, now);
  const added = firstChanged(now, before);
  if (lost === undefined && added === undefined) return undefined;
  const why = lost === undefined ? `there is a new file, ${added!.name}` : lossOfFile(lost, situation);
  return { table, isKept: loaded.length > 0, why };
};

/** Decides about the newest run only: it has dropped the staging tables of older runs. */
export const decideBeginning = (situation: Situation): Beginning => {
  const { latest, before, stagedHashes, fresh } = situation;
  if (latest === undefined || latest.state === 'published') return { kind: 'new', why: undefined };
  const startOver = (why: string): Beginning => ({
    kind: 'new',
    why: `run ${latest.id} is unfinished; everything is loaded again, because ${why}`,
  });
  if (fresh) return startOver('you asked for it');
  if (latest.errorCode === 'ETL_INCOMPLETE' && situation.vanished.size === 0)
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
