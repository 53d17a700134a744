// The contract of what judges the files of a table as they are listed: which of them a run needs.

import type { NewFile } from '../../checkpoint/ledger.ts';
import type { Extent } from '../../declaration.ts';
import type { Outgoing } from '../../publish/names.ts';
import type { Looking } from '../context.ts';
import type { RunSettings } from '../options.ts';
import type { AskedFiles } from './asked-files.ts';
import type { Found } from './found-files.ts';

/** What a run brings to a table, and takes from it. */
export interface Intake {
  readonly extent: Extent;
  /** Files that are listed, and those of them that production has not, or has in another version. */
  readonly listed: number;
  readonly added: number;
  readonly changed: number;
  readonly outgoing: Outgoing;
  /** Whether production is not yet what files and mode say. */
  readonly hasWork: boolean;
}

/** Judges the files of a table as they are listed. */
export interface Sieve {
  /** Before anybody opens them: places of those that have to be looked at, to be taken then; undefined: all. */
  readonly open?: (files: readonly Found[]) => Promise<readonly number[]>;
  /** Places of those that are needed. */
  readonly take: (files: readonly Omit<NewFile, 'ordinal'>[]) => Promise<readonly number[]>;
  readonly end: () => Promise<Intake>;
}

/** What it takes to judge them. */
export interface Judging
  extends Pick<Looking, 'client' | 'spec' | 'report'>, Pick<RunSettings, 'allowShrink'> {
  /** Everything is loaded again. */
  readonly fullRefresh: boolean;
  readonly asked: AskedFiles;
}

export const noneOutgoing: Outgoing = { files: [], unloaded: [], rows: 0 };

/** When nothing is known of what is in production. */
export const takeEverything = (): Sieve => {
  let files = 0;
  return {
    take: async (batch) => {
      files += batch.length;
      return [...batch.keys()];
    },
    end: async () => ({
      extent: 'whole',
      listed: files,
      added: files,
      changed: 0,
      outgoing: noneOutgoing,
      hasWork: true,
    }),
  };
};
