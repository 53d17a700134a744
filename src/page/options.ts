// Types of createPage, in a file without code, so that a host's compiler needs none of the page's
// dependencies.

import type { SiteOptions } from '../worker/options.ts';

/** Options of createPage. */
export interface PageOptions extends SiteOptions {
  /** Path at which the host serves the page, such as '/etl'. Default: '/'. */
  readonly basePath?: string;
  /** Secret that visitors need. Default: random. false: none, because the host checks visitors. */
  readonly token?: string | false;
  /** Accepted names of the Host header, with or without a port. Default: names of this machine. */
  readonly hosts?: readonly string[] | 'any';
  /** Marks the session cookie `Secure`, for a page behind a proxy with TLS. Default: false. */
  readonly secureCookie?: boolean;
  /** Lets visitors cancel, retry and start runs, and pause schedules. Default: false, read-only. */
  readonly control?: boolean | PageControl;
  /** Address of traces: 'https://tempo.example/trace/{traceId}'. Default: no links. */
  readonly traceUrl?: string;
  /** Shows BullMQ's board at `/board`. true: it must be installed. Default: if it is installed. */
  readonly board?: boolean;
}

/** An action that a visitor asks for. */
export interface PageAction {
  /** What the visitor wants to do; 'board' is any action of BullMQ's board. */
  readonly action: 'cancel' | 'retry' | 'run' | 'pause' | 'resume' | 'board';
  /** What the action is about. It says how to read `subject`. */
  readonly kind: 'run' | 'schedule' | 'pipeline' | 'queue';
  /** Number of a run, name of a schedule or pipeline, or the request of BullMQ's board. */
  readonly subject: string;
  /** What `PageControl.user` returned for the request. */
  readonly user: string | undefined;
  /** The request with the action, as the page received it. */
  readonly request: Request;
}

/** What visitors may do, and who they are: the option `control` of createPage. */
export interface PageControl {
  /** Folder of the pipelines that visitors can run. Default: no pipelines. */
  readonly pipelines?: string;
  /** Returns the name of the request's user, which is recorded with actions. Default: none. */
  readonly user?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Returns true if the action is allowed. Default: all actions are. */
  readonly allow?: (action: PageAction) => boolean | Promise<boolean>;
}

/** The page for a service that exists: the result of createPage. */
export interface EtlPage {
  /** `env`: second argument of @hono/node-server's adapter, with the sender's address. */
  readonly fetch: (request: Request, env?: object) => Promise<Response>;
  /** Secret that visitors need; null if none. */
  readonly token: string | null;
  /** Ends live updates and closes database connections. */
  readonly close: () => Promise<void>;
}
