// The contract for deciding, while files are listed, which of them a run needs.

import { CountedFiles, type Counted } from './counted.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { MovedFile } from '../../ledger/production/moved-files.ts';
import type { Extent } from '../../core/declaration.ts';
import type { Outgoing } from '../../publish/table/tables.ts';
import type { Work } from '../context.ts';
import type { RunSettings } from '../options.ts';
import type { AskedFiles } from './asked-files.ts';
import type { Found } from './found-files.ts';

/** What was known when the files of a table were judged; overtaken.ts looks it up again. */
export interface Basis {
  readonly publications: string;
  readonly own: string;
  /** True if everything is loaded again although production has rows, which are replaced. */
  readonly isFullRefresh: boolean;
  /** Ids of versions of this pipeline whose files are listed, some under other names. */
  readonly listed: readonly number[];
  /** Texts about rows that a full refresh deletes, which were reported already. */
  readonly said: Set<string>;
  /** Ids of recorded versions that lost their rows because the table was emptied. */
  readonly stale: readonly number[];
  /** Set if the table got rows after the run was planned: the run then loads all its files. */
  readonly isFilledSince?: true;
}

export type BasisFound = Omit<Basis, 'listed' | 'said'>;

export interface Intake {
  readonly extent: Extent;
  readonly listed: number;
  /** `added`: production lacks the file. `changed`: production has another version of the file. */
  readonly added: Counted;
  readonly changed: Counted;
  /** Unchanged files that are loaded again, on request or after a correction of their rejects. */
  readonly again: Counted;
  readonly unloaded: Counted;
  /** Listed files of which nothing changes, without files that were unloaded earlier. */
  readonly unchanged: number;
  /**
   * Files with rows in production that are no longer listed, except files that the caller unloads.
   */
  readonly gone: Counted;
  readonly goneRows: 'leave' | 'stay';
  readonly outgoing: Outgoing;
  /** Missing: every run supplies all rows, or the state of production is unknown. */
  readonly basis?: Basis;
  readonly hasWork: boolean;
  /** Moved files, whose new names the run records. */
  readonly moved: readonly MovedFile[];
}

type FileKey = string;

export interface Sieve {
  /**
   * Called before files are opened. Returns the indexes of files that `take` has to see; missing:
   * all.
   */
  readonly open?: (files: readonly Found[]) => Promise<readonly number[]>;
  readonly take: (files: readonly NewFile[]) => Promise<readonly number[]>;
  /**
   * `unneeded`: files that `take` returned, but that the complete listing shows not to be needed.
   */
  readonly end: () => Promise<Intake & { readonly unneeded?: ReadonlySet<FileKey> }>;
}

export interface Judging extends Work, Pick<RunSettings, 'allowShrink'> {
  /**
   * True if everything is loaded again, requested now or for the unfinished run that is continued.
   */
  readonly isFullRefresh: boolean;
  readonly asked: AskedFiles;
  readonly publications: ReadonlyMap<string, string>;
  /** If true, unlisted files are counted even if nothing happens to their rows. */
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

/** For planning without a server, when the state of production is unknown. */
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
