// Notifications: what a pipeline declares, as plain frozen data, and what receivers get.

import type { HookTable } from './hook.ts';
import type { Secret } from './secret.ts';

/** What happened: a run failed, was published, or rejected records; a slot of a schedule is late. */
export const notifyEvents = ['failed', 'published', 'rejects', 'late'] as const;
export type NotifyEvent = (typeof notifyEvents)[number];

/** Somebody who is notified, made by `webhook` or `slack`. Its secrets are names of environment variables. */
export interface Receiver {
  readonly kind: 'receiver';
  /** Name of its channel in notify/registry.ts. */
  readonly channel: string;
  readonly url: Secret;
  readonly secret?: Secret | undefined;
  readonly on: readonly NotifyEvent[];
}

/** Rejected records with the same fault; the first of them. */
export interface NotifiedRejects {
  readonly table: string;
  readonly column: string | null;
  readonly code: string;
  readonly records: number;
  readonly file: string;
  readonly line: number;
}

/** What a receiver gets as JSON. Later versions may add fields; those that are there keep their meaning while `version` is 1. */
export interface Notification {
  readonly version: 1;
  readonly type: NotifyEvent;
  /** When it happened, ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: {
    /** null: the request for the run could not be read. */
    readonly pipeline: string | null;
    /** null: it failed before there was one. */
    readonly run: number | null;
    readonly state: string;
    /** The run that was rolled back to; null: it loaded files. */
    readonly rolledBackTo: number | null;
    readonly startedAt: string | null;
    /** As hooks see them; rows are null if the run did not publish them. */
    readonly tables: readonly HookTable[];
    /** The largest groups. */
    readonly rejects: readonly NotifiedRejects[];
    /** Data tests that did not pass. */
    readonly tests: readonly {
      readonly table: string;
      readonly test: string;
      readonly outcome: string;
      readonly failures: number;
    }[];
    readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
    /** Only of a slot that is late. */
    readonly schedule?: { readonly name: string; readonly slot: string; readonly outcome: string };
  };
}
