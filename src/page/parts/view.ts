// A view is the content of one page, as a list of sections. Live updates replace single sections.

import type { Client } from '../../db/client.ts';
import type { QueuesSeen } from '../../worker/queues.ts';
import type { Html } from './html.ts';
import type { TraceLink } from './trace-link.ts';

export interface ViewContext {
  readonly client: Client;
  readonly queues: () => Promise<QueuesSeen | undefined>;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Adds the host's base path to a path of the page. */
  readonly href: (path: string) => string;
  readonly now: Date;
  readonly traceLink: TraceLink | undefined;
  readonly control: { readonly pipelines: () => Promise<readonly string[]> } | undefined;
}

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
  readonly title?: string;
  readonly body: Html;
}

export interface View {
  readonly title: string;
  readonly place: string;
  readonly sections: readonly Section[];
  readonly freshMs: number;
}

export type MakeView = (context: ViewContext) => Promise<View>;

/** Intervals of live updates: `busyMs` while a run is under way, `calmMs` otherwise. */
export const busyMs = 2_000;
export const calmMs = 15_000;
