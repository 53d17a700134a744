// csv()'s options for URLs. Pipelines use these types, so they must not need types of Node.js.
// Proved by test/package/production.test.ts.

import type { Secret } from '../../../core/secret.ts';

/** Timeouts of one request, in milliseconds. */
export interface Timeouts {
  /** Time to connect, including name resolution and TLS. */
  readonly connectMs: number;
  /** Time from the connection to the beginning of the answer. */
  readonly headersMs: number;
  /** Longest wait for more bytes of the answer. */
  readonly idleMs: number;
}

/** Timeouts of requests, in milliseconds. */
export interface HttpTimeouts extends Partial<Timeouts> {
  /** How long failed requests are repeated without receiving a byte. */
  readonly retryMs?: number;
}

/** Options of csv() for URLs. */
export interface HttpOptions {
  /** Headers for the URL's own host. A secret is written as `env('NAME')`. */
  readonly headers?: Readonly<Record<string, string | Secret>>;
  /** Token for the header `authorization: Bearer …`. */
  readonly bearer?: Secret;
  /** User and password for the header `authorization: Basic …`. */
  readonly basic?: {
    /** User, as plain text: without a colon. */
    readonly user: string;
    /** Environment variable with the password. */
    readonly password: Secret;
  };
  /** Allows requests to private networks and to this machine, also by redirects. */
  readonly allowPrivate?: boolean;
  /** Default: connectMs 10,000 · headersMs 60,000 · idleMs 60,000 · retryMs 120,000. */
  readonly timeouts?: HttpTimeouts;
}
