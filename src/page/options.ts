// Options of the page, and what it is. Types alone: a host's compiler follows no dependency here.

import type { SiteOptions } from '../worker/options.ts';

export interface PageOptions extends SiteOptions {
  /** Where a host has put it, such as '/etl'. Default: '/'. */
  readonly basePath?: string;
  /** What a visitor has to know. Default: a random one. false: the host decides who may come this far. */
  readonly token?: string | false;
  /** Names in the Host header that are answered, with or without a port. Default: those of this machine. */
  readonly hosts?: readonly string[] | 'any';
  /** Marks the session cookie `Secure` although requests arrive without TLS: for a proxy that adds TLS. Default: false. */
  readonly secureCookie?: boolean;
  /** Lets visitors cancel, retry and start runs, and pause schedules. Default: false, the page only reads. */
  readonly control?: boolean | PageControl;
  /** Where a run's trace can be seen: 'https://tempo.example/trace/{traceId}'. Default: its number is shown alone. */
  readonly traceUrl?: string;
  /** BullMQ's board at `/board`; true: it must be installed. Default: if it is installed. */
  readonly board?: boolean;
}

/** What a visitor wants to do. */
export interface PageAction {
  readonly action: 'cancel' | 'retry' | 'run' | 'pause' | 'resume' | 'board';
  readonly kind: 'run' | 'schedule' | 'pipeline' | 'queue';
  /** Number of a run, name of a schedule or a pipeline, or what BullMQ's board asks for. */
  readonly subject: string;
  /** What `user` said. */
  readonly user: string | undefined;
  readonly request: Request;
}

export interface PageControl {
  /** Folder of pipelines that can be run, as workers have it. Default: none can. */
  readonly pipelines?: string;
  /** Who sends a request, for the record of what was done. Default: nobody knows. */
  readonly user?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Whether this may be done. Default: everything may. */
  readonly allow?: (action: PageAction) => boolean | Promise<boolean>;
}

export interface EtlPage {
  /**
   * Answers a request as `fetch` would be answered. `env`: what the adapter of @hono/node-server gives beside the request, for the
   * address of its sender.
   */
  readonly fetch: (request: Request, env?: object) => Promise<Response>;
  /** What a visitor has to know; null: nothing. */
  readonly token: string | null;
  /** Ends live updates, and closes connections. */
  readonly close: () => Promise<void>;
}
