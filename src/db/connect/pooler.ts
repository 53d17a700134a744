// Finds out whether a pooler reserves a server session for each client.
//
// A pooler reports its own number instead of the server process's pid. In session mode, a client
// that listens gets notifications while it sends nothing. In other modes it gets none, and its next
// query may run in another server process. Proved by test/fault/pgbouncer.test.ts.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { PgClient } from './pg.ts';

/** Waits for a notification, which needs milliseconds. If none arrives, sessions are shared. */
const roundsMs = [200, 400, 800, 1_600, 3_200];

const processOf = async (client: PgClient, ...statements: readonly string[]): Promise<number> => {
  // Qualifies the function: the search path is still that of the role.
  const text = ['select pg_catalog.pg_backend_pid() as pid', ...statements].join('; ');
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult[];
  return results[0]!.rows[0].pid;
};

/** Returns undefined if the notification has not arrived yet. */
const probeOnce = async (client: PgClient, other: PgClient, waitMs: number): Promise<boolean | undefined> => {
  const channel = `sluice_probe_${randomBytes(8).toString('hex')}`;
  const over = new AbortController();
  const hear = (news: pg.Notification): void => {
    if (news.channel === channel) over.abort();
  };
  client.on('notification', hear);
  try {
    const listener = await processOf(client, `listen ${channel}`);
    if (listener !== client.serverPid) return false;
    const notifier = await processOf(other, `notify ${channel}`);
    if (notifier === listener) return false;
    await sleep(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
    return over.signal.aborted ? true : undefined;
  } finally {
    client.off('notification', hear);
    // The pooler may give the sessions to other clients.
    for (const each of [client, other]) await processOf(each, `unlisten ${channel}`);
  }
};

/** True if the pooler through which both are connected keeps a session for each client. */
export const keepsSessions = async (client: PgClient, other: PgClient): Promise<boolean> => {
  let keeps: boolean | undefined;
  for (const waitMs of roundsMs) keeps ??= await probeOnce(client, other, waitMs);
  return keeps ?? false;
};
