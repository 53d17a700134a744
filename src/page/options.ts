// Options of the page, and what it is. Types alone: a host's compiler follows no dependency here.

import type { SiteOptions } from '../worker/options.ts';

export interface PageOptions extends SiteOptions {
  /** Where a host has put it, such as '/etl'. Default: '/'. */
  readonly basePath?: string;
  /** What a visitor has to know. Default: a random one. false: the host decides who may come this far. */
  readonly token?: string | false;
  /** Names in the Host header that are answered, with or without a port. Default: those of this machine. */
  readonly hosts?: readonly string[] | 'any';
}

export interface EtlPage {
  /** Answers a request as `fetch` would be answered. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** What a visitor has to know; null: nothing. */
  readonly token: string | null;
  /** Ends live updates, and closes connections. */
  readonly close: () => Promise<void>;
}
