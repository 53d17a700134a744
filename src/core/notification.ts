// Receivers of notifications, as a pipeline declares them, and the notifications that they get.

import type { HookError, HookTable } from './hook.ts';
import type { Secret } from './secret.ts';

export const notifyEvents = ['failed', 'published', 'rejects', 'late'] as const;
/** A run failed, was published, or rejected records; or a scheduled run is late. */
export type NotifyEvent = (typeof notifyEvents)[number];

/** A receiver of notifications, made by `webhook` or `slack`. */
export interface Receiver {
  /** Marks a receiver, as made by webhook() or slack(). */
  readonly kind: 'receiver';
  /** A name of report/notify/registry.ts: 'webhook' or 'slack'. */
  readonly channel: string;
  /** Environment variable with the receiver's URL. */
  readonly url: Secret;
  /** Environment variable with the secret that signs requests. Without it, they are not signed. */
  readonly secret?: Secret | undefined;
  /** Events that the receiver is sent. */
  readonly on: readonly NotifyEvent[];
}

/** Rejected records with the same fault. `file` and `line` name the first of these records. */
export interface NotifiedRejects {
  /** Table whose records were rejected. */
  readonly table: string;
  /** null: the whole record is at fault. */
  readonly column: string | null;
  /** Why the records were rejected: a code of docs/reference/errors.md, such as 'type'. */
  readonly code: string;
  /** Number of rejected records with this fault. */
  readonly records: number;
  /** Name of the file with the first of these records. */
  readonly file: string;
  /** Line on which the first of these records begins, from 1. */
  readonly line: number;
}

/**
 * The JSON that a receiver gets. Later releases may add fields; while `version` is 1,
 * existing fields keep their meaning.
 */
export interface Notification {
  /** Version of this format. */
  readonly version: 1;
  /** The event that the receiver is informed of. */
  readonly type: NotifyEvent;
  /** Time of the event, ISO 8601 in UTC. */
  readonly timestamp: string;
  /** The run or schedule that the event is about. */
  readonly data: {
    /** null: the request for the run could not be read. */
    readonly pipeline: string | null;
    /** Number of the run; null if the run failed before it had a number. */
    readonly run: number | null;
    /** 'published' or 'failed'. For a late slot: how its run ended, or the outcome of the slot. */
    readonly state: string;
    /** If the run was a rollback, the run whose tables it put back; otherwise null. */
    readonly rolledBackTo: number | null;
    /** Start of the run, ISO 8601 in UTC; null if no run started. */
    readonly startedAt: string | null;
    /** The tables as hooks see them. `rows` is null if the run did not publish the table. */
    readonly tables: readonly HookTable[];
    /** The groups of rejects with the most records. */
    readonly rejects: readonly NotifiedRejects[];
    /** Data tests that did not pass. */
    readonly tests: readonly {
      /** Table that was tested. */
      readonly table: string;
      /** Name of the test, unique in its table. */
      readonly test: string;
      /** 'warned' or 'failed'. */
      readonly outcome: string;
      /** Number of failing rows. */
      readonly failures: number;
    }[];
    /** Why the run failed; null if it did not. */
    readonly error: HookError | null;
    /** The schedule that is late. Present only if `type` is 'late'. */
    readonly schedule?: {
      /** Name of the schedule. */
      readonly name: string;
      /** Time at which the run was due, ISO 8601 in UTC. */
      readonly slot: string;
      /** 'enqueued', 'skipped' or 'missed'. */
      readonly outcome: string;
    };
  };
}
