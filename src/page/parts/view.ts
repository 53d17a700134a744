// The contract of a view: what one page shows, in sections that live updates replace one by one.

import type { Client } from '../../db/client.ts';
import type { QueuesSeen } from '../../worker/read-queues.ts';
import type { Html } from './html.ts';
import type { TraceLink } from './trace-link.ts';

/** What a view is made of. */
export interface ViewContext {
  readonly client: Client;
  /** What is on the queues now; undefined: nothing was ever enqueued. */
  readonly queues: () => Promise<QueuesSeen | undefined>;
  /** Numbers and names in the path, in its order. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** The address of a page of ours: '/runs/12' as it is under the host's path. */
  readonly href: (path: string) => string;
  readonly now: Date;
  /** The address of a trace; undefined: nobody said where traces are. */
  readonly traceLink: TraceLink | undefined;
  /** Visitors can do something; undefined: the page only reads. */
  readonly control: { readonly pipelines: () => Promise<readonly string[]> } | undefined;
}

/** A path with a query, without what is empty. */
export const withQuery = (
  path: string,
  query: Readonly<Record<string, string | number | false | null | undefined>>,
): string => {
  const given = Object.entries(query)
    .filter(([, value]) => value)
    .map(([name, value]) => [name, String(value)] as [string, string]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};

export interface Section {
  readonly id: string;
  /** Without one, the section needs none. */
  readonly title?: string;
  readonly body: Html;
}

export interface View {
  readonly title: string;
  /** Place in the navigation. */
  readonly place: string;
  readonly sections: readonly Section[];
  /** How soon there may be something new. */
  readonly freshMs: number;
}

export type MakeView = (context: ViewContext) => Promise<View>;

/** A run under way changes with every chunk; everything else when somebody does something. */
export const busyMs = 2_000;
export const calmMs = 15_000;
