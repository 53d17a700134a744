// The contract for deciding, as the files of a table are listed, which of them a run needs.

import type { Counted } from './counted.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { MovedFile } from '../../ledger/production/moved-files.ts';
import type { Extent } from '../../core/declaration/declaration.ts';
import type { Outgoing } from '../../publish/table/tables.ts';
import type { OutsetContext } from '../context.ts';
import type { RunSettings } from '../options.ts';
import type { AskedFiles } from './asked-files.ts';
import { plural } from '../../core/wording.ts';
import type { Found } from './found-files.ts';

/** How many files a message names. */
const namedMax = 5;

/** Counts files, and remembers the names of the first. */
export class Tally implements Counted {
  count = 0;
  readonly names: string[] = [];

  add(name: string): void {
    this.count += 1;
    if (this.names.length < namedMax) this.names.push(name);
  }

  text(): string {
    const more = this.count > this.names.length ? ', …' : '';
    return `${plural(this.count, 'file')}: ${this.names.join(', ')}${more}`;
  }
}

/** What the files of a table were judged by. It is looked at again when the table is published: run/publish/overtaken.ts. */
export interface Basis {
  /** What `publicationsOf` and `ownFilesOf` said of the table. */
  readonly publications: string;
  readonly own: string;
  /** Everything is loaded again although production has rows: these are replaced. */
  readonly isFullRefresh: boolean;
  /** Versions of this pipeline whose files are listed, some under other names. */
  readonly listed: readonly number[];
  /** Which rows a full refresh deletes, as far as that was said. */
  readonly said: Set<string>;
  /** Versions of all pipelines whose rows are gone: they are recorded, and the table was empty. */
  readonly stale: readonly number[];
  /** The table got rows after the run was planned: the run brings all its files, and relies on none that is there. */
  readonly isFilledSince?: true;
}

/** Before files are listed. */
export type BasisFound = Omit<Basis, 'listed' | 'said'>;

/** What a run brings to a table, and takes from it. */
export interface Intake {
  readonly extent: Extent;
  /** Files that are listed. */
  readonly listed: number;
  /** Listed files that production lacks, and files that it has in a version to be replaced. */
  readonly added: Counted;
  readonly changed: Counted;
  /** Those that production has as they are now, and that are loaded again: somebody wants it, or their rejects were corrected. */
  readonly again: Counted;
  /** Those that are in production, and leave because somebody wants it. */
  readonly unloaded: Counted;
  /** Listed files of which nothing changes. Those that were taken out before, and stay out, are none of them. */
  readonly unchanged: number;
  /** Files that are not listed any more and have rows in production, where somebody had to ask for them; and what becomes of those. */
  readonly gone: Counted;
  readonly goneRows: 'leave' | 'stay';
  readonly outgoing: Outgoing;
  /** Undefined: every run brings all rows of the table, or nobody knows what is in production. */
  readonly basis?: Basis;
  /** Whether production has to change. */
  readonly hasWork: boolean;
  /** Files that have other names than when they were loaded: the run records the new ones. */
  readonly moved: readonly MovedFile[];
}

/** A file by `fileKey`. */
type FileKey = string;

/** Judges the files of a table as they are listed. */
export interface Sieve {
  /** Called before files are opened: indexes of those that `take` has to see; undefined: all. */
  readonly open?: (files: readonly Found[]) => Promise<readonly number[]>;
  /** Indexes of those that may be needed. */
  readonly take: (files: readonly Omit<NewFile, 'ordinal'>[]) => Promise<readonly number[]>;
  /** `unneeded`: files that `take` let pass, and that are not needed, as all files together show. */
  readonly end: () => Promise<Intake & { readonly unneeded?: ReadonlySet<FileKey> }>;
}

/** What judging files requires. */
export interface Judging
  extends Pick<OutsetContext, 'client' | 'spec' | 'report'>, Pick<RunSettings, 'allowShrink'> {
  /** Everything is loaded again, because somebody asks for it now or has asked for the run that is continued. */
  readonly isFullRefresh: boolean;
  readonly asked: AskedFiles;
  /** What `publicationsOf` said of each table before any file was judged: what is published since is noticed. */
  readonly publications: ReadonlyMap<string, string>;
  /** Files that are no longer listed are counted even if nothing happens to their rows. */
  readonly countsGone?: boolean;
}

export const noneOutgoing: Outgoing = { files: [], unloaded: [] };

/** What a run that brings all rows takes from a table. */
export const takesAll = {
  extent: 'whole',
  again: new Tally(),
  unloaded: new Tally(),
  goneRows: 'leave',
  outgoing: noneOutgoing,
  moved: [],
} as const satisfies Partial<Intake>;

/** When nothing is known of what is in production. */
export const takeEverything = (): Sieve => {
  const files = new Tally();
  return {
    take: async (batch) => {
      for (const { name } of batch) files.add(name);
      return [...batch.keys()];
    },
    end: async () => ({
      ...takesAll,
      listed: files.count,
      added: files,
      changed: new Tally(),
      unchanged: 0,
      gone: new Tally(),
      hasWork: true,
    }),
  };
};
