// Detects a dead connection that looks open, because the peer vanished or a firewall dropped it.
// TCP would notice after a quarter of an hour.
//
// If a query runs and no bytes move, a second connection asks the server about the session. The
// silent connection is ended if there is no answer, no such session, or if the session waits for
// us. Proved by test/fault/black-hole.test.ts.

import type { Socket } from 'node:net';
import type pg from 'pg';
import { codeOf, isSqlState } from '../../core/errors/errors.ts';
import { createEndFrozen, type EndFrozen } from './frozen-sessions.ts';
import { PgClient } from './pg.ts';
import { probeTimeoutMs, silenceMs, sourceSilenceMs, watchIntervalMs } from '../../core/limits.ts';

/** waiting: the server waits for bytes from us. */
type Verdict = 'working' | 'waiting' | 'dead';

const selectSession = `select state, wait_event_type, wait_event from pg_stat_activity where pid = $1`;

/** Asks the server about the session. Terminates frozen sessions whose lock it waits for. */
const probe = async (client: PgClient, endFrozen: EndFrozen): Promise<Verdict> => {
  const { serverConfig, serverPid, isPooled } = client;
  // The session is still starting, which has a timeout of its own.
  if (serverPid === undefined) return 'working';
  const bounded = { connectionTimeoutMillis: probeTimeoutMs, query_timeout: probeTimeoutMs };
  // `any` asks the same host, even if its role (primary or standby) has changed.
  const config = { ...serverConfig, target: 'any' };
  const asker = new PgClient(config, { name: 'sluice watchdog', schemas: [] }, bounded);
  asker.on('error', () => undefined);
  try {
    await asker.connect();
    // A role that `alter role … set role` has set may not see our sessions.
    await asker.query('set role none');
    const { rows } = await asker.query(selectSession, [serverPid]);
    const session = rows[0];
    // The session is idle although we wait for an answer: our query or its answer was lost.
    if (session === undefined || session.state?.startsWith('idle')) return 'dead';
    // The state is hidden from us, so the query may just be slow: do not end it.
    if (session.state === null) return 'working';
    if (session.wait_event_type === 'Lock') await endFrozen(asker, serverPid).catch(() => undefined);
    return session.state === 'active' && session.wait_event_type !== 'Client' ? 'working' : 'waiting';
  } catch (error) {
    // A refusal proves that the server lives.
    if (isSqlState(codeOf(error))) return 'working';
    // A pooler has answered, even if it has no free connection to the server.
    return isPooled && asker.isLoggedIn ? 'working' : 'dead';
  } finally {
    void asker.end().catch(() => undefined);
  }
};

const socketOf = (client: pg.Client): Socket => client.connection.stream as Socket;

const traffic = ({ bytesRead, bytesWritten, writableLength }: Socket): string =>
  `${bytesRead}/${bytesWritten}/${writableLength}`;

const isIdle = (client: pg.Client): boolean =>
  (client as unknown as { readyForQuery: boolean }).readyForQuery && socketOf(client).writableLength === 0;

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
    if (traffic(socket) !== seen) return;
    // If the server waits and we have nothing to send, our source may be slow: it gets more time.
    const isOver = verdict === 'waiting' && (socket.writableLength > 0 || silentMs >= sourceSilenceMs);
    if (verdict === 'dead' || isOver) socket.destroy(new Error('the server no longer answers'));
    else if (verdict === 'working') seenAt = performance.now();
  };
  const timer = setInterval(() => void look(), watchIntervalMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
};
