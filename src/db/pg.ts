// node-postgres: the one place that loads it.

import { createRequire } from 'node:module';
import type pg from 'pg';

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

export const { Client: PgClient } = loadPg();
