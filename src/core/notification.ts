// Receivers of notifications, as a pipeline declares them, and the notifications that they get.

import type { HookTable } from './hook.ts';
import type { Secret } from './secret.ts';

/** A run failed, was published, or rejected records; or a scheduled run is late. */
export const notifyEvents = ['failed', 'published', 'rejects', 'late'] as const;
export type NotifyEvent = (typeof notifyEvents)[number];

/** A receiver of notifications, made by `webhook` or `slack`. */
export interface Receiver {
  readonly kind: 'receiver';
  /** A name of report/notify/registry.ts: 'webhook' or 'slack'. */
  readonly channel: string;
  readonly url: Secret;
  readonly secret?: Secret | undefined;
  readonly on: readonly NotifyEvent[];
}

/** Rejected records with the same fault. `file` and `line` name the first of these records. */
export interface NotifiedRejects {
  readonly table: string;
  /** null: the whole record is at fault. */
  readonly column: string | null;
  readonly code: string;
  readonly records: number;
  readonly file: string;
  readonly line: number;
}

/**
 * The JSON that a receiver gets. Later releases may add fields; while `version` is 1,
 * existing fields keep their meaning.
 */
export interface Notification {
  readonly version: 1;
  readonly type: NotifyEvent;
  /** Time of the event, ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: {
    /** null: the request for the run could not be read. */
    readonly pipeline: string | null;
    /** Number of the run; null if the run failed before it had a number. */
    readonly run: number | null;
    readonly state: string;
    /** If the run was a rollback, the run whose tables it put back; otherwise null. */
    readonly rolledBackTo: number | null;
    readonly startedAt: string | null;
    /** The tables as hooks see them. `rows` is null if the run did not publish the table. */
    readonly tables: readonly HookTable[];
    /** The groups of rejects with the most records. */
    readonly rejects: readonly NotifiedRejects[];
    /** Data tests that did not pass. */
    readonly tests: readonly {
      readonly table: string;
      readonly test: string;
      readonly outcome: string;
      readonly failures: number;
    }[];
    readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
    /** Present only if `type` is 'late'. `slot`: the time at which the run was due. */
    readonly schedule?: { readonly name: string; readonly slot: string; readonly outcome: string };
  };
}
