// The contract for deciding which files of a table a run needs, while the files are listed.

import { CountedFiles, type Counted } from './counted.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { MovedFile } from '../../ledger/production/moved-files.ts';
import type { Extent } from '../../core/declaration.ts';
import type { Outgoing } from '../../publish/table/tables.ts';
import type { Work } from '../context.ts';
import type { RunSettings } from '../options.ts';
import type { AskedFiles } from './asked-files.ts';
import type { Found } from './found-files.ts';

/**
 * What was known when the files of a table were judged. Looked up again when the table is
 * published: run/publish/overtaken.ts.
 */
export interface Basis {
  /** Results of `publicationsOf` and `ownFilesOf` for the table. */
  readonly publications: string;
  readonly own: string;
  /** True if everything is loaded again although production has rows, which are replaced. */
  readonly isFullRefresh: boolean;
  /** Ids of versions of this pipeline whose files are listed, some under other names. */
  readonly listed: readonly number[];
  /** Texts about rows that a full refresh deletes, which were reported already. */
  readonly said: Set<string>;
  /**
   * Ids of recorded versions, of all pipelines, whose rows are gone because the table was empty.
   */
  readonly stale: readonly number[];
  /**
   * Set if the table got rows after the run was planned: the run brings all its files, and relies
   * on no existing row.
   */
  readonly isFilledSince?: true;
}

/** What is known before files are listed. */
export type BasisFound = Omit<Basis, 'listed' | 'said'>;

/** Which rows a run supplies for a table, and which rows it deletes. */
export interface Intake {
  readonly extent: Extent;
  readonly listed: number;
  /** Listed files that production lacks, and files of which it has another version. */
  readonly added: Counted;
  readonly changed: Counted;
  /** Unchanged files that are loaded again, on request or after a correction of their rejects. */
  readonly again: Counted;
  /** Files in production whose rows are deleted on request. */
  readonly unloaded: Counted;
  /** Listed files of which nothing changes, without files that were unloaded earlier. */
  readonly unchanged: number;
  /**
   * Files with rows in production that are no longer listed, without files that the caller unloads;
   * and what happens to their rows.
   */
  readonly gone: Counted;
  readonly goneRows: 'leave' | 'stay';
  readonly outgoing: Outgoing;
  /** Undefined: every run supplies all rows of the table, or the state of production is unknown. */
  readonly basis?: Basis;
  /** True if production has to change. */
  readonly hasWork: boolean;
  /** Files that have other names than when they were loaded: the run records the new names. */
  readonly moved: readonly MovedFile[];
}

type FileKey = string;

export interface Sieve {
  /**
   * Called before files are opened. Returns the indexes of files that `take` has to see; undefined:
   * all.
   */
  readonly open?: (files: readonly Found[]) => Promise<readonly number[]>;
  /** Returns the indexes of files that may be needed. */
  readonly take: (files: readonly NewFile[]) => Promise<readonly number[]>;
  /**
   * `unneeded`: files that `take` returned, and that turned out not to be needed after all files
   * were listed.
   */
  readonly end: () => Promise<Intake & { readonly unneeded?: ReadonlySet<FileKey> }>;
}

export interface Judging extends Work, Pick<RunSettings, 'allowShrink'> {
  /**
   * True if everything is loaded again, requested now or for the unfinished run that is continued.
   */
  readonly isFullRefresh: boolean;
  readonly asked: AskedFiles;
  /**
   * What `publicationsOf` returned for each table before any file was judged, to notice later
   * publications.
   */
  readonly publications: ReadonlyMap<string, string>;
  /** True if unlisted files are counted even if nothing happens to their rows. */
  readonly countsGone?: boolean;
}

export const noneOutgoing: Outgoing = { files: [], unloaded: [] };

/** The parts of an intake that are the same for every run that supplies all rows. */
export const takesAll = {
  extent: 'whole',
  again: new CountedFiles(),
  unloaded: new CountedFiles(),
  goneRows: 'leave',
  outgoing: noneOutgoing,
  moved: [],
} as const satisfies Partial<Intake>;

/** Takes every file, because the state of production is unknown. */
export const takeEverything = (): Sieve => {
  const files = new CountedFiles();
  return {
    take: async (batch) => {
      for (const { name } of batch) files.add(name);
      return [...batch.keys()];
    },
    end: async () => ({
      ...takesAll,
      listed: files.count,
      added: files,
      changed: new CountedFiles(),
      unchanged: 0,
      gone: new CountedFiles(),
      hasWork: true,
    }),
  };
};
