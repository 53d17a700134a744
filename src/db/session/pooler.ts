// Detects a pooler, and whether it reserves a server session for each client.
//
// A pooler reports its own number instead of the server process's pid. In session mode, a client
// that listens gets notifications while it sends nothing. In other modes it gets none, and its next
// query may run in another server process. Proved by test/fault/pgbouncer.test.ts.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { EtlError } from '../../core/errors/errors.ts';
import type { ServerAddress } from '../connect/address.ts';
import { withClient, type Client } from '../client.ts';

/** direct: no visible pooler · session: each client has a server session · shared: it has none. */
export type Pooling = 'direct' | 'session' | 'shared';

/** Waits for a notification, which needs milliseconds. If none arrives, sessions are shared. */
const roundsMs = [200, 400, 800, 1_600, 3_200];

const processOf = async (client: Client, ...statements: readonly string[]): Promise<number> => {
  // Qualifies the function, because "reset all" also resets the safe search path.
  const text = ['select pg_catalog.pg_backend_pid() as pid', ...statements].join('; ');
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult[];
  return results[0]!.rows[0].pid;
};

const probeOnce = async (client: Client, other: Client, waitMs: number): Promise<Pooling | undefined> => {
  const channel = `sluice_probe_${randomBytes(8).toString('hex')}`;
  const listener = await processOf(client, `listen ${channel}`);
  if (listener !== client.serverPid) return 'shared';
  const over = new AbortController();
  const hear = (news: pg.Notification): void => {
    if (news.channel === channel) over.abort();
  };
  client.on('notification', hear);
  // Resets the session: the pooler may give it, with our settings and channels, to other clients.
  const notifier = await processOf(other, `notify ${channel}`, 'unlisten *', 'reset all');
  if (notifier !== listener) await sleep(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
  client.off('notification', hear);
  if (notifier === listener) return 'shared';
  return over.signal.aborted ? 'session' : undefined;
};

export const poolingOf = async (client: Client, address: ServerAddress): Promise<Pooling> => {
  if (!client.isPooled) return 'direct';
  // Uses the same pooler, not another host.
  return withClient({ ...address, config: client.serverConfig }, async (other) => {
    let pooling: Pooling | undefined;
    for (const waitMs of roundsMs) pooling ??= await probeOnce(client, other, waitMs);
    if (pooling === 'session') await client.query('unlisten *');
    return pooling ?? 'shared';
  });
};

/** Errors: ETL_POOLER; those of opening a second connection. */
export const refuseSharedSessions = async (client: Client, address: ServerAddress): Promise<void> => {
  if ((await poolingOf(client, address)) === 'shared')
    throw new EtlError('ETL_POOLER', { server: address.label });
};
