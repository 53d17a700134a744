// What a run would do, as plain data: for the command line, the library, and tests that compare the
// plan with the run.

import type { NotifyEvent } from '../../core/notification.ts';
import type { Counted } from '../files/counted.ts';

/** How long other sessions wait. */
export type Wait = 'none' | 'instant' | 'while rows are written';

/** The files of a table that is loaded from files. */
export interface FilesPlan {
  /** Files that the table's locations find now. */
  readonly listed: number;
  /** Files that the run loads, and their stored bytes. */
  readonly loaded: number;
  readonly bytes: number;
  /** Files that production lacks. */
  readonly added: Counted;
  /** Files that production has in another version. */
  readonly changed: Counted;
  /** Unchanged files that are loaded again. */
  readonly again: Counted;
  /** Files in production whose rows are deleted on request. */
  readonly unloaded: Counted;
  /**
   * Files with rows in production that are no longer listed; number of files that production has
   * unchanged.
   */
  readonly gone: Counted;
  readonly unchanged: number;
  /** What happens to the rows of `gone` files: deleted ('leave') or kept ('stay'). */
  readonly goneRows: 'leave' | 'stay';
}

/** How a table is published. */
export interface PublishingPlan {
  /** The name in the run's report and in etl.published_table. */
  readonly strategy: string;
  /** The strategy that is used instead if the rows show that it is cheaper. */
  readonly orElse: string | null;
  readonly why: string;
  readonly readersWait: Wait;
  readonly writersWait: Wait;
  /** Statements that create or change the table in production. */
  readonly ddl: readonly string[];
  /** The changes in words, if the table in production differs from the declaration. */
  readonly changes: readonly string[];
  /** What else the user should know about the publication. */
  readonly notice: string | null;
}

/** What the run would do to one table. */
export interface TablePlan {
  readonly table: string;
  readonly schema: string;
  readonly kind: 'source' | 'derived';
  /** The declared `publish`. */
  readonly mode: string;
  /** All rows of the table, or those of some files. Null: the server could not say. */
  readonly extent: 'whole' | 'part' | null;
  /** Null: SQL makes the table from others. */
  readonly files: FilesPlan | null;
  /**
   * How rows get from files into the table, and why: label and text, in the order of a byte's path.
   */
  readonly steps: readonly { readonly step: string; readonly text: string }[];
  /** Null: the server could not say, or there is nothing to do. */
  readonly publishing: PublishingPlan | null;
}

/** Why the run would fail, with the exit code. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly exit: number;
}

export interface RunPlan {
  readonly pipeline: string;
  /** 'refused': the run would end with `refusal`. 'unknown': no server could say. */
  readonly outcome: 'nothing' | 'load' | 'load new' | 'continue' | 'refused' | 'unknown';
  /** The run whose tables are current, or that would be continued. */
  readonly run: number | null;
  readonly why: readonly string[];
  readonly refusal: Refusal | null;
  /**
   * True if the server has prepared everything without rows: SQL, keys, indexes, constraints,
   * tests.
   */
  readonly prepared: boolean;
  readonly notices: readonly string[];
  readonly tables: readonly TablePlan[];
  readonly hooks: readonly { readonly hook: string; readonly call: string }[];
  /** Who is notified of which events: the channel, and the variable with the receiver's URL. */
  readonly receivers: readonly {
    readonly channel: string;
    readonly receiver: string;
    readonly on: readonly NotifyEvent[];
  }[];
  /**
   * Bytes needed and free on the server's disk during publication, judged by the size of
   * production; null: unknown.
   */
  readonly room: { readonly needed: number | null; readonly free: number | null };
  /** Duration of the most similar of the last runs; null: there was none. */
  readonly seconds: number | null;
}
