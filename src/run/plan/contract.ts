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
  /** Files that the run loads. */
  readonly loaded: number;
  /** Size of the files that the run loads as stored, in bytes. */
  readonly bytes: number;
  /** Files that production lacks. */
  readonly added: Counted;
  /** Files that production has in another version. */
  readonly changed: Counted;
  /** Unchanged files that are loaded again. */
  readonly again: Counted;
  /** Files in production whose rows are deleted on request. */
  readonly unloaded: Counted;
  /** Files with rows in production that are no longer listed. */
  readonly gone: Counted;
  /** Number of files that production has unchanged. */
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
  /** Why this strategy is used, as a part of a sentence. */
  readonly why: string;
  /** How long queries of the table wait during publication. */
  readonly readersWait: Wait;
  /** How long statements that change the table wait during publication. */
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
  /** Name of the table in the pipeline and in its schema. */
  readonly table: string;
  /** Schema of the table in production. */
  readonly schema: string;
  /** source: loaded from files · derived: made by SQL from other tables. */
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
  readonly steps: readonly {
    /** What the text is about, such as 'decoder'. */
    readonly step: string;
    /** How it is done, and why. */
    readonly text: string;
  }[];
  /** Null: the server could not say, or there is nothing to do. */
  readonly publishing: PublishingPlan | null;
}

/** Why the run would fail, with the exit code. */
export interface Refusal {
  /** Code of the error that the run would throw. */
  readonly code: string;
  /** What would happen, and where. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** Exit code that `etl run` would have. */
  readonly exit: number;
}

/** What a run would do now: the result of planPipeline. Nothing was changed to find out. */
export interface RunPlan {
  /** Name of the planned pipeline. */
  readonly pipeline: string;
  /** 'refused': the run would end with `refusal`. 'unknown': no server could say. */
  readonly outcome: 'nothing' | 'load' | 'load new' | 'continue' | 'refused' | 'unknown';
  /** The run whose tables are current, or that would be continued. */
  readonly run: number | null;
  /** Reasons for the outcome, one sentence each. */
  readonly why: readonly string[];
  /** The error that the run would throw; null if the run would not be refused. */
  readonly refusal: Refusal | null;
  /**
   * True if the server has prepared everything without rows: SQL, keys, indexes, constraints,
   * tests.
   */
  readonly prepared: boolean;
  /** What else an operator should know before the run, one sentence each. */
  readonly notices: readonly string[];
  /** The plan of each table, in declared order. */
  readonly tables: readonly TablePlan[];
  /** The hooks that the run would call, in this order. */
  readonly hooks: readonly {
    /** Name of the hook, such as 'before'. */
    readonly hook: string;
    /** What is called: the path of an SQL file, or a function. */
    readonly call: string;
  }[];
  /** Who is notified of which events: the channel, and the variable with the receiver's URL. */
  readonly receivers: readonly {
    /** How the receiver is notified: 'webhook' or 'slack'. */
    readonly channel: string;
    /** Environment variable with the receiver's URL. */
    readonly receiver: string;
    /** Events that the receiver is sent. */
    readonly on: readonly NotifyEvent[];
  }[];
  /** Space on the server's disk during publication. */
  readonly room: {
    /** Bytes that are needed, judged by the size of production; null: unknown. */
    readonly needed: number | null;
    /** Bytes that are free; null: unknown. */
    readonly free: number | null;
  };
  /** Duration of the most similar of the last runs; null: there was none. */
  readonly seconds: number | null;
}
