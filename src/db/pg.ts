// node-postgres: the one place that loads it, and where it learns what libpq knows of TLS and password files.

import { createRequire } from 'node:module';
import type pg from 'pg';
import { passwordFromFile } from './password-file.ts';
import { answerMissingTls, settleTls } from './tls.ts';

/**
 * Loads it as CommonJS, which it is; its ES module wraps that, and every thread would read both.
 *
 * It finds out whether it runs at Cloudflare by `navigator`, and on a Node that has none (20) by making a Response, for
 * which Node loads its HTTP client: as long again as all of node-postgres. So while it loads, and only then, there is one.
 */
const loadPg = (): typeof pg => {
  const isMissing = !('navigator' in globalThis);
  const value = { userAgent: `Node.js/${process.versions.node}` };
  if (isMissing) Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  try {
    return createRequire(import.meta.url)('pg') as typeof pg;
  } finally {
    if (isMissing) Reflect.deleteProperty(globalThis, 'navigator');
  }
};

/** What the types leave out. */
interface Connecting {
  ssl: boolean;
  connect(...address: unknown[]): void;
}

/**
 * Every connection of ours. What is settled here cannot be settled in the address: that is sent to threads, and functions
 * cannot be. Proved by test/integration/tls.test.ts and password-file.test.ts. Errors: ETL_USAGE.
 */
export class PgClient extends loadPg().Client {
  constructor(given: pg.ClientConfig) {
    const { config, isOptional } = settleTls(given, process.env);
    super(config);
    this.password ??= passwordFromFile as never;
    const connection = this.connection as pg.Connection & Connecting;
    // A socket of this machine is never encrypted, and libpq does not look at the mode then.
    if (this.host.startsWith('/')) this.ssl = connection.ssl = false;
    if (!this.ssl || config.sslnegotiation === 'direct') return;
    const connect = connection.connect.bind(connection);
    connection.connect = (...address) => {
      connect(...address);
      answerMissingTls(connection, isOptional);
    };
  }
}
