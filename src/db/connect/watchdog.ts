// Notices a connection that is open on our side only: a peer that vanished, a firewall that forgot us.
//
// TCP reports that after a quarter of an hour. So: when bytes are due and none have moved for a while, another connection asks the
// server about this session. If it works, it may take any time. If it waits for us or is unknown, or the server does not answer, the
// connection is dead and is ended. Proved by test/fault/black-hole.test.ts.

import type { Socket } from 'node:net';
import type pg from 'pg';
import { codeOf, isSqlState } from '../../core/errors/errors.ts';
import { createEndFrozen, type EndFrozen } from './frozen-sessions.ts';
import { PgClient } from './pg.ts';
import { probeTimeoutMs, silenceMs, sourceSilenceMs, watchIntervalMs } from '../../core/limits.ts';

/** waiting: the server has nothing to do for this session, and waits for bytes from us. */
type Verdict = 'working' | 'waiting' | 'dead';

/** What the server says of a session: 'ClientRead' and 'ClientWrite' mean that it waits for us. */
const selectSession = `select state, wait_event_type, wait_event from pg_stat_activity where pid = $1`;

/** Asks over a connection of its own, bounded in time; what a session waits for in vain is ended. */
const probe = async (client: PgClient, endFrozen: EndFrozen): Promise<Verdict> => {
  const { serverConfig, serverPid, isPooled } = client;
  // The start of a session has its own time limit.
  if (serverPid === undefined) return 'working';
  const bounded = { connectionTimeoutMillis: probeTimeoutMs, query_timeout: probeTimeoutMs };
  // The session is on this host, whatever has become of it since.
  const config = { ...serverConfig, target: 'any' };
  const asker = new PgClient(config, { name: 'sluice watchdog', schemas: [] }, bounded);
  asker.on('error', () => undefined);
  try {
    await asker.connect();
    // Sessions belong to the role that logged in; a role that was set since then (`alter role … set role`) may not see them.
    await asker.query('set role none');
    const { rows } = await asker.query(selectSession, [serverPid]);
    const session = rows[0];
    // We wait for an answer and the server is idle: the question or the answer was lost.
    if (session === undefined || session.state?.startsWith('idle')) return 'dead';
    // Its state is hidden from us: a slow query must not count as dead.
    if (session.state === null) return 'working';
    if (session.wait_event_type === 'Lock') await endFrozen(asker, serverPid).catch(() => undefined);
    return session.state === 'active' && session.wait_event_type !== 'Client' ? 'working' : 'waiting';
  } catch (error) {
    // A refusal (such as no free slot) is an answer, too: the server lives, and we learn no more.
    if (isSqlState(codeOf(error))) return 'working';
    // A pooler that logged us in has answered, even without a free connection to the server.
    return isPooled && asker.isLoggedIn ? 'working' : 'dead';
  } finally {
    void asker.end().catch(() => undefined);
  }
};

const socketOf = (client: pg.Client): Socket => client.connection.stream as Socket;

/** Bytes that went either way, as one text to compare. */
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
    // Bytes may have moved while we asked: then the answer does not count.
    if (traffic(socket) !== seen) return;
    // If we have nothing to send, the server may wait for our slow source, which gets more time.
    const isOver = verdict === 'waiting' && (socket.writableLength > 0 || silentMs >= sourceSilenceMs);
    if (verdict === 'dead' || isOver) socket.destroy(new Error('the server no longer answers'));
    else if (verdict === 'working') seenAt = performance.now();
  };
  const timer = setInterval(() => void look(), watchIntervalMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
};
