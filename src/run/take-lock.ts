// Allows one run per pipeline at a time: takes the pipeline's lock, or reports its holder.

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { selectUnfinished } from '../ledger/run/ledger.ts';
import { lockSpace } from '../db/connect/advisory-keys.ts';
import { lockHolder, tryLockPipeline } from '../db/session/advisory-lock.ts';
import { runQuery, withTransaction, type Client } from '../db/client.ts';
import { endSessionsNamed, selectLastSign } from '../db/connect/frozen-sessions.ts';
import type { Query } from '../db/sql.ts';
import { EtlError } from '../core/errors/errors.ts';
import { deadHolderWaitMs, frozenConfirmMs, waitFirstMs } from '../core/limits.ts';
import { isRunning } from '../core/running.ts';
import type { RunContext } from './context.ts';

/**
 * Asks as the role that logged in and owns the sessions. A role set later may neither see nor end
 * them.
 */
const askAsLogin = (client: Client, query: Query): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  withTransaction(client, async () => {
    await client.query('set local role none');
    return (await runQuery(client, query)).rows;
  });

type Locking = Pick<RunContext, 'client' | 'address' | 'spec'>;

/**
 * Ends our sessions of a lost connection, because the server may keep them, and their locks, for a
 * while.
 */
export const endOldSessions = ({ client, address }: Omit<Locking, 'spec'>): Promise<unknown> =>
  askAsLogin(client, endSessionsNamed(address.sessionName));

const sessionHolder = async (
  client: Client,
  pipeline: string,
): Promise<({ readonly session: number } & Readonly<Record<string, string | number>>) | undefined> =>
  (await client.query(lockHolder, [pipeline, lockSpace])).rows[0];

const lockedBy = (pipeline: string, holder: object): EtlError =>
  new EtlError('ETL_RUN_LOCKED', { pipeline, ...holder });

export const lockedError = async (client: Client, pipeline: string): Promise<EtlError> => {
  const [unfinished] = (await runQuery(client, selectUnfinished(pipeline))).rows;
  return lockedBy(
    pipeline,
    unfinished ?? { run: 'not yet numbered', ...(await sessionHolder(client, pipeline)) },
  );
};

/**
 * Ends the session of a frozen worker. Returns false if the worker is not frozen, or if its
 * statistics cannot be read.
 */
const endFrozenWorker = async (client: Client, session: number): Promise<boolean> => {
  // Asked in two transactions, because statistics do not change within a transaction.
  const ask = async () => (await askAsLogin(client, selectLastSign(session)))[0];
  const first = await ask();
  if (typeof first?.['sign'] !== 'string') return false;
  await sleep(frozenConfirmMs);
  if ((await ask())?.['sign'] !== first['sign']) return false;
  await askAsLogin(client, endSessionsNamed(String(first['name'])));
  return true;
};

/**
 * Takes the lock, which lasts as long as the connection. Waits until the server ends the session of
 * a holder that is dead, frozen, or an older connection of ours. Returns true if it did not have to
 * wait. Errors: ETL_RUN_LOCKED with run, host, process and start of the holder.
 */
export const takeLock = async ({ client, spec }: Locking, isRetry: boolean): Promise<boolean> => {
  const deadline = performance.now() + deadHolderWaitMs;
  let isFirst = true;
  for (; !(await tryLockPipeline(client, spec.name)); isFirst = false) {
    const { rows } = await runQuery(client, selectUnfinished(spec.name));
    const unfinished = rows[0];
    // Without a holder, the lock was released between the two queries.
    const holder = await sessionHolder(client, spec.name);
    if (holder !== undefined) {
      const { session, ...shown } = holder;
      const isDead = unfinished !== undefined && unfinished.host === hostname() && !isRunning(unfinished.pid);
      const isDying = isRetry || isDead || (await endFrozenWorker(client, session));
      // A holder without an unfinished run is still planning.
      if (!isDying || performance.now() > deadline)
        throw lockedBy(spec.name, unfinished ?? { run: 'not yet numbered', ...shown });
    }
    await sleep(waitFirstMs);
  }
  return isFirst;
};
