// Finds out whether a pooler is in front of the server, and whether it keeps a session for one client.
//
// PostgreSQL names the server process of a session when the session begins (BackendKeyData); a pooler names one of its own. Then a
// second connection shows the pooler's mode. In session mode a listening session is notified while its client is silent. In
// transaction and statement mode it is not, because no client is connected to that server process then; instead, its next query meets
// another server process. Neither happens by chance in the other mode. Proved by test/fault/pgbouncer.test.ts.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { EtlError } from '../../core/errors/errors.ts';
import type { ServerAddress } from '../connect/address.ts';
import { withClient, type Client } from '../client.ts';

/** direct: no pooler, or none that shows · session: each client has a server process of its own · shared: it has not. */
export type Pooling = 'direct' | 'session' | 'shared';

/** How long a probe waits for a notification, which takes milliseconds. A session that is not proved by then is refused. */
const roundsMs = [200, 400, 800, 1_600, 3_200];

/** Runs statements in one message, so that they reach one server process; returns which. */
const processOf = async (client: Client, ...statements: readonly string[]): Promise<number> => {
  // Qualified, because "reset all" below also resets the safe search path.
  const text = ['select pg_catalog.pg_backend_pid() as pid', ...statements].join('; ');
  // One result a statement: the types know of one.
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult[];
  return results[0]!.rows[0].pid;
};

/** One round: undefined when it proves nothing. */
const probeOnce = async (client: Client, other: Client, waitMs: number): Promise<Pooling | undefined> => {
  const channel = `sluice_probe_${randomBytes(8).toString('hex')}`;
  const listener = await processOf(client, `listen ${channel}`);
  if (listener !== client.serverPid) return 'shared';
  const over = new AbortController();
  const hear = (news: pg.Notification): void => {
    if (news.channel === channel) over.abort();
  };
  client.on('notification', hear);
  // Other clients of the pool must not inherit our settings and channels (`set` and `listen` outlast a transaction).
  const notifier = await processOf(other, `notify ${channel}`, 'unlisten *', 'reset all');
  if (notifier !== listener) await sleep(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
  client.off('notification', hear);
  if (notifier === listener) return 'shared';
  return over.signal.aborted ? 'session' : undefined;
};

/** How this connection reaches the server. A direct one costs no query. Errors: those of opening a second connection. */
export const poolingOf = async (client: Client, address: ServerAddress): Promise<Pooling> => {
  if (!client.isPooled) return 'direct';
  // The pooler that this connection goes through, not that of another host.
  return withClient({ ...address, config: client.serverConfig }, async (other) => {
    let pooling: Pooling | undefined;
    for (const waitMs of roundsMs) pooling ??= await probeOnce(client, other, waitMs);
    if (pooling === 'session') await client.query('unlisten *');
    return pooling ?? 'shared';
  });
};

/** Errors: ETL_POOLER unless the session is this connection's as long as it lasts; those of opening a second connection. */
export const refuseSharedSessions = async (client: Client, address: ServerAddress): Promise<void> => {
  if ((await poolingOf(client, address)) === 'shared')
    throw new EtlError('ETL_POOLER', { server: address.label });
};
