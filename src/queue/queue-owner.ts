// Who owns the jobs in a Redis: distinguishes a database from a copy of it, which has the same identity and would take its jobs.
//
// Beside the jobs is a mark, and the database knows every mark that it has set. Every user of the queue sets a new one:
//
//   mark known here, or none there -> write a new one here, commit -> set it there, unless somebody else was faster
//   mark not known here            -> ETL_QUEUE_SHARED
//
// After a copy was made the first of the two that uses the queue sets a mark that the other does not know. A process that is
// killed in between leaves a mark here that is nowhere else, which does no harm; a Redis that comes back with an older mark is
// known, too. Proved by test/fault/queue-owner.test.ts.

import { randomBytes } from 'node:crypto';
import { runQuery, type Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { EtlError } from '../core/errors/errors.ts';

/** What a claim needs of Redis. */
export interface MarkStore {
  /** For people. */
  readonly label: string;
  readonly key: string;
  readonly read: () => Promise<string | null>;
  /** Sets `next` if the mark is still `before`. */
  readonly swap: (before: string | null, next: string) => Promise<boolean>;
}

/** A mark that is younger is not replaced: a program may enqueue hundreds of runs a second, and workers look every ten. */
const markFreshMs = 20_000;

/** Marks that are older are forgotten: no Redis comes back with them, unless somebody restores it from far back. */
const marksKept = '14 days';

/** Each time that the swap fails another process has set a mark. */
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

/** Makes sure that the jobs under the prefix are those of the client's database. Errors: ETL_QUEUE_SHARED. */
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
    // First here: a mark that is there and not known here would shut this database out.
    await runQuery(client, addMark(prefix, next));
    if (!(await store.swap(before, next))) continue;
    await runQuery(client, forgetMarks(prefix));
    return;
  }
  throw new EtlError('ETL_QUEUE_SHARED', { queue: store.label, prefix, key: store.key });
};
