// Detects two databases that use the same jobs in a Redis: a database and its copy have the same
// identity.
//
// Redis has a mark beside the jobs, and the database stores every mark that it has set. A process
// that uses the queue sets a new mark, first in the database, then in Redis. A mark in Redis that
// the database does not know is refused (ETL_QUEUE_SHARED).
//
// So if a database is copied, only the first of both that sets a mark can use the queue. A process
// that is killed between the two steps leaves an unused mark, which is harmless. Proved by
// test/fault/queue-owner.test.ts.

import { randomBytes } from 'node:crypto';
import { runQuery, type Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { EtlError } from '../core/errors/errors.ts';

/** Returns an identity of the database that survives restart, failover and renaming. */
export const databaseIdentity = async (client: Client): Promise<string> => {
  const { rows } = await client.query(
    `select system_identifier || '-' || oid as identity
      from pg_control_system(), pg_database
      where datname = current_database()`,
  );
  return rows[0].identity;
};

export interface MarkStore {
  readonly label: string;
  readonly key: string;
  readonly read: () => Promise<string | null>;
  readonly swap: (before: string | null, next: string) => Promise<boolean>;
}

/** A mark younger than this is not replaced: hundreds of runs may be enqueued per second. */
const markFreshMs = 20_000;

/** Marks older than this are deleted; a Redis that still has such a mark is refused. */
const marksKept = '14 days';

/** Attempts to replace the mark. One fails only if another process has set a mark meanwhile. */
const claimAttemptsMax = 100;

const findMark = (prefix: string, mark: string): Query => ({
  text: `select at > clock_timestamp() - $3 * interval '1 ms' as "isFresh" from etl.queue_owner
    where prefix = $1 and mark = $2`,
  values: [prefix, mark, markFreshMs],
});

const addMark = (prefix: string, mark: string): Query => ({
  text: 'insert into etl.queue_owner (prefix, mark) values ($1, $2)',
  values: [prefix, mark],
});

const forgetMarks = (prefix: string): Query => ({
  text: `delete from etl.queue_owner where prefix = $1 and at < clock_timestamp() - $2::interval`,
  values: [prefix, marksKept],
});

/** Checks the mark in Redis, and replaces it unless it is fresh. Errors: ETL_QUEUE_SHARED. */
export const claimQueue = async (client: Client, store: MarkStore, prefix: string): Promise<void> => {
  for (let attempts = 0; attempts < claimAttemptsMax; attempts += 1) {
    const before = await store.read();
    if (before !== null) {
      const known = (await runQuery(client, findMark(prefix, before))).rows[0];
      if (known === undefined)
        throw new EtlError('ETL_QUEUE_SHARED', { queue: store.label, prefix, key: store.key });
      if (known.isFresh) return;
    }
    const next = randomBytes(16).toString('hex');
    // Stored in the database first: a mark in Redis that it does not know would lock it out.
    await runQuery(client, addMark(prefix, next));
    if (!(await store.swap(before, next))) continue;
    await runQuery(client, forgetMarks(prefix));
    return;
  }
  throw new EtlError('ETL_QUEUE_SHARED', { queue: store.label, prefix, key: store.key });
};
