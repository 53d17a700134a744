// Types of the functions that decide, while files are listed, which files a run has to load.

import { CountedFiles, type Counted } from './counted.ts';
import type { MovedFile } from '../../ledger/production/moved-files.ts';
import type { Extent } from '../../core/declaration.ts';
import type { Outgoing } from '../../publish/table/tables.ts';
import type { Work } from '../context.ts';
import type { RunSettings } from '../options.ts';
import type { AskedFiles } from './asked-files.ts';
import type { Found } from './found-files.ts';
import type { KnownHeld, PlannedFile } from './held-files.ts';

/**
 * State of production when the files were chosen. Before publishing, overtaken.ts compares it with
 * the current state.
 */
export interface Basis {
  readonly publications: string;
  readonly own: string;
  /** True if everything is loaded again and replaces the rows in production. */
  readonly isFullRefresh: boolean;
  /** Ids of this pipeline's file versions whose files are listed, some of them under a new name. */
  readonly listed: readonly number[];
  /** Notices about rows that a full refresh deletes. Each is reported only once. */
  readonly said: Set<string>;
  /** Ids of recorded versions that lost their rows because the table was emptied. */
  readonly stale: readonly number[];
  /**
   * Set if the table was empty when the run was planned, and has rows now. All files are loaded
   * then.
   */
  readonly isFilledSince?: true;
}

export type BasisFound = Omit<Basis, 'listed' | 'said'>;

export interface Intake {
  readonly extent: Extent;
  readonly listed: number;
  /**
   * `added`: files that production does not have. `changed`: files with another version in
   * production.
   */
  readonly added: Counted;
  readonly changed: Counted;
  /** Unchanged files that are loaded again, on request or after a correction of their rejects. */
  readonly again: Counted;
  readonly unloaded: Counted;
  /** Listed files for which nothing is done, except files that were unloaded earlier. */
  readonly unchanged: number;
  /**
   * Files with rows in production that are no longer listed. Files that the caller unloads are not
   * counted.
   */
  readonly gone: Counted;
  readonly goneRows: 'leave' | 'stay';
  readonly outgoing: Outgoing;
  /** Missing if every run supplies all rows, or if the state of production is unknown. */
  readonly basis?: Basis;
  readonly hasWork: boolean;
  /** Renamed files. The run records their new names. */
  readonly moved: readonly MovedFile[];
}

export interface Sieve {
  /**
   * Called before files are opened. Returns the indexes of files to open and pass to `take`;
   * missing: all.
   */
  readonly open?: (files: readonly Found[]) => Promise<readonly number[]>;
  /** Returns the indexes of files that are needed, and can be loaded. */
  readonly take: (files: readonly PlannedFile[]) => Promise<readonly number[]>;
  /** Keeps the rows of files that could not be read, and are held back. */
  readonly keep?: (files: readonly Found[]) => Promise<void>;
  /**
   * `unneeded`: files, by `placeKey`, that `take` returned, although the complete listing shows that they need not
   * be loaded.
   */
  readonly end: () => Promise<Intake & { readonly unneeded?: ReadonlySet<string> }>;
}

export interface Judging extends Work, Pick<RunSettings, 'allowShrink'> {
  /**
   * True if everything is loaded again: the caller asked for it now, or when the unfinished run
   * began.
   */
  readonly isFullRefresh: boolean;
  readonly asked: AskedFiles;
  readonly known: KnownHeld;
  /** If true, files that are no longer listed are counted even if their rows are kept. */
  readonly countsGone?: boolean;
}

export const noneOutgoing: Outgoing = { files: [], unloaded: [] };

export const takesAll = {
  extent: 'whole',
  again: new CountedFiles(),
  unloaded: new CountedFiles(),
  goneRows: 'leave',
  outgoing: noneOutgoing,
  moved: [],
} as const satisfies Partial<Intake>;

/**
 * Chooses all files. Used for planning without a server, when nothing is known about production.
 */
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
