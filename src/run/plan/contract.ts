// What a run would do, as plain data: for the command line, the library, and tests that compare it with what the run did.

import type { NotifyEvent } from '../../core/declaration/notification.ts';
import type { Counted } from '../files/counted.ts';

/** How long others wait. */
export type Wait = 'none' | 'instant' | 'while rows are written';

/** The files of a table that is loaded from files. */
export interface FilesPlan {
  /** Files that its locations find now. */
  readonly listed: number;
  /** Those that the run loads, and their bytes as they are stored. */
  readonly loaded: number;
  readonly bytes: number;
  /** Not in production; in production in another version; in production as they are, and loaded again nevertheless. */
  readonly added: Counted;
  readonly changed: Counted;
  readonly again: Counted;
  /** In production, and taken out because it was asked for. */
  readonly unloaded: Counted;
  /** Not listed any more, with rows in production; as they are in production, which stay. */
  readonly gone: Counted;
  readonly unchanged: number;
  /** What becomes of the rows of those that are gone. */
  readonly goneRows: 'leave' | 'stay';
}

/** How a table gets into production. */
export interface PublishingPlan {
  /** As in the report of the run and in etl.published_table. */
  readonly strategy: string;
  /** What is done instead when the rows show that it is cheaper. */
  readonly orElse: string | null;
  readonly why: string;
  readonly readersWait: Wait;
  readonly writersWait: Wait;
  /** Statements that change the table in production, or that make it. */
  readonly ddl: readonly string[];
  /** The same in words, where a table in production is not what is declared. */
  readonly changes: readonly string[];
  /** What else the user should know of it. */
  readonly notice: string | null;
}

/** One table as the run would make it. */
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
  /** The way there, and why that way: label and text, in the order of a byte. */
  readonly steps: readonly { readonly step: string; readonly text: string }[];
  /** Null: the server could not say, or there is nothing to do. */
  readonly publishing: PublishingPlan | null;
}

/** Why the run would end, with the exit code that it would have. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly exit: number;
}

export interface RunPlan {
  readonly pipeline: string;
  /** Refused: the run would end with `refusal`. Unknown: there was no server that could say. */
  readonly outcome: 'nothing' | 'load' | 'load new' | 'continue' | 'refused' | 'unknown';
  /** The run whose tables are current, or that would be continued. */
  readonly run: number | null;
  readonly why: readonly string[];
  readonly refusal: Refusal | null;
  /** The server has prepared everything without rows: SQL, keys, indexes, constraints, tests. */
  readonly prepared: boolean;
  readonly notices: readonly string[];
  readonly tables: readonly TablePlan[];
  readonly hooks: readonly { readonly hook: string; readonly call: string }[];
  /** Who is notified of what: the channel, and the variable that holds the receiver's URL. */
  readonly receivers: readonly {
    readonly channel: string;
    readonly receiver: string;
    readonly on: readonly NotifyEvent[];
  }[];
  /** Bytes on the server's disk while the run publishes, by the size of production; null: nothing is known yet. */
  readonly room: { readonly needed: number | null; readonly free: number | null };
  /** As long as the most similar of the last runs; null: there was none. */
  readonly seconds: number | null;
}
