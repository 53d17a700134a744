// Detects a dead connection that our side still sees as open: the peer vanished, or a firewall
// dropped it. TCP would report that after a quarter of an hour.
//
// If we wait and no bytes have moved for a while, a second connection asks the server about the
// session. The connection is ended if the server does not know the session or does not answer, or
// if the session waits for us. Proved by test/fault/black-hole.test.ts.

import type { Socket } from 'node:net';
import type pg from 'pg';
import { codeOf, isSqlState } from '../../core/errors/errors.ts';
import { createEndFrozen, type EndFrozen } from './frozen-sessions.ts';
import { PgClient } from './pg.ts';
import { probeTimeoutMs, silenceMs, sourceSilenceMs, watchIntervalMs } from '../../core/limits.ts';

/** waiting: the session's server process waits for bytes from us. */
type Verdict = 'working' | 'waiting' | 'dead';

const selectSession = `select state, wait_event_type, wait_event from pg_stat_activity where pid = $1`;

/** If the session waits for a lock, frozen sessions that hold the lock are terminated. */
const probe = async (client: PgClient, endFrozen: EndFrozen): Promise<Verdict> => {
  const { serverConfig, serverPid, isPooled } = client;
  // The session's start has a timeout of its own.
  if (serverPid === undefined) return 'working';
  const bounded = { connectionTimeoutMillis: probeTimeoutMs, query_timeout: probeTimeoutMs };
  // Asks this host, even if its role has changed since.
  const config = { ...serverConfig, target: 'any' };
  const asker = new PgClient(config, { name: 'sluice watchdog', schemas: [] }, bounded);
  asker.on('error', () => undefined);
  try {
    await asker.connect();
    // A role set by `alter role … set role` may not see sessions of the login role.
    await asker.query('set role none');
    const { rows } = await asker.query(selectSession, [serverPid]);
    const session = rows[0];
    // The server is idle while we wait for an answer: our query or its answer was lost.
    if (session === undefined || session.state?.startsWith('idle')) return 'dead';
    // The state is hidden from us, and a slow query must not count as dead.
    if (session.state === null) return 'working';
    if (session.wait_event_type === 'Lock') await endFrozen(asker, serverPid).catch(() => undefined);
    return session.state === 'active' && session.wait_event_type !== 'Client' ? 'working' : 'waiting';
  } catch (error) {
    // A refusal, such as no free slot, proves that the server lives.
    if (isSqlState(codeOf(error))) return 'working';
    // A pooler that logged us in has answered, even if it has no free connection to the server.
    return isPooled && asker.isLoggedIn ? 'working' : 'dead';
  } finally {
    void asker.end().catch(() => undefined);
  }
};

const socketOf = (client: pg.Client): Socket => client.connection.stream as Socket;

/** Bytes moved in both directions, as text to compare. */
const traffic = ({ bytesRead, bytesWritten, writableLength }: Socket): string =>
  `${bytesRead}/${bytesWritten}/${writableLength}`;

const isIdle = (client: pg.Client): boolean =>
  (client as unknown as { readyForQuery: boolean }).readyForQuery && socketOf(client).writableLength === 0;

/** Watches a connection until it ends. The timer does not keep the process alive. */
export const watchClient = (client: PgClient): void => {
  let seen = '';
  let seenAt = performance.now();
  let isAsking = false;
  const endFrozen = createEndFrozen();
  const look = async (): Promise<void> => {
    const socket = socketOf(client);
    const now = traffic(socket);
    if (isIdle(client) || now !== seen) {
      seen = now;
      seenAt = performance.now();
      return;
    }
    const silentMs = performance.now() - seenAt;
    if (isAsking || silentMs < silenceMs) return;
    isAsking = true;
    const verdict = await probe(client, endFrozen);
    isAsking = false;
    // Bytes moved meanwhile, so the answer does not count.
    if (traffic(socket) !== seen) return;
    // If we have nothing to send, our source may be slow: it gets more time.
    const isOver = verdict === 'waiting' && (socket.writableLength > 0 || silentMs >= sourceSilenceMs);
    if (verdict === 'dead' || isOver) socket.destroy(new Error('the server no longer answers'));
    else if (verdict === 'working') seenAt = performance.now();
  };
  const timer = setInterval(() => void look(), watchIntervalMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
};
