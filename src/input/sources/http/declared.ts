// The options of csv() for URLs, as types. The types of a pipeline lead here, and must not need those of Node.js
// (test/package/production.test.ts).

import type { Secret } from '../../../core/declaration/secret.ts';

export interface Timeouts {
  /** Until the connection is there, its name resolved and TLS agreed on. */
  readonly connectMs: number;
  /** From then on until the answer begins. */
  readonly headersMs: number;
  /** Between two pieces of the answer, while somebody waits for the next. */
  readonly idleMs: number;
}

/** Bounds of waiting, in milliseconds. */
export interface HttpTimeouts extends Partial<Timeouts> {
  /** How long a request is tried again when nothing comes. */
  readonly retryMs?: number;
}

export interface HttpOptions {
  /** Headers of every request to the URL's own host. One that carries a secret is `env('NAME')`. */
  readonly headers?: Readonly<Record<string, string | Secret>>;
  /** `authorization: Bearer …` */
  readonly bearer?: Secret;
  /** `authorization: Basic …` */
  readonly basic?: { readonly user: string; readonly password: Secret };
  /** Addresses of private networks and of this machine may be asked, and redirected to. */
  readonly allowPrivate?: boolean;
  /** Default: connectMs 10,000 · headersMs 60,000 · idleMs 60,000 · retryMs 120,000. */
  readonly timeouts?: HttpTimeouts;
}
