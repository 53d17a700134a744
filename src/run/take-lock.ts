// One run per pipeline: takes the pipeline's lock, or says who has it.

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { selectUnfinished } from '../checkpoint/ledger.ts';
import { lockSpace } from '../db/advisory-keys.ts';
import { lockHolder, tryLockPipeline } from '../db/advisory-lock.ts';
import { runQuery, type Client } from '../db/client.ts';
import { endFrozenWorker } from '../db/frozen-sessions.ts';
import { EtlError, codeOf } from '../errors.ts';
import { deadHolderWaitMs, waitFirstMs } from '../limits.ts';
import type { RunContext } from './context.ts';

/** True when a process of this machine is certainly gone; EPERM means that it is there but somebody else's. */
const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
};

/**
 * Ends sessions of this very process on the server, from before its connections were lost: on the server's side they
 * may live on for a while, with locks and open transactions.
 */
const endOldSessions = async ({ client, address }: RunContext): Promise<void> => {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = $1 and pid <> pg_backend_pid() and usename = current_user and datname = current_database()`,
    [address.sessionName],
  );
};

/** The session that holds the lock; undefined when it was let go. */
const sessionHolder = async (
  client: Client,
  pipeline: string,
): Promise<({ readonly session: number } & Readonly<Record<string, string | number>>) | undefined> =>
  (await client.query(lockHolder, [pipeline, lockSpace])).rows[0];

/**
 * Takes the lock, which lasts as long as the connection. When its holder's process is known to be dead or frozen, or is an
 * older connection of ours, the server is given a moment to notice.
 *
 * Errors: ETL_RUN_LOCKED with run, host, process and start of the holder.
 */
export const takeLock = async (context: RunContext, isRetry: boolean): Promise<void> => {
  const { client, spec } = context;
  if (isRetry) await endOldSessions(context);
  const deadline = performance.now() + deadHolderWaitMs;
  while (!(await tryLockPipeline(client, spec.name))) {
    const { rows } = await runQuery(client, selectUnfinished(spec.name));
    const unfinished = rows[0];
    // A lock without a holder was let go between two questions.
    const holder = await sessionHolder(client, spec.name);
    if (holder !== undefined) {
      const { session, ...shown } = holder;
      const isDead = unfinished !== undefined && unfinished.host === hostname() && isGone(unfinished.pid);
      const isDying = isRetry || isDead || (await runQuery(client, endFrozenWorker(session))).rows.length > 0;
      // Without a run it is still planning.
      if (!isDying || performance.now() > deadline)
        throw new EtlError('ETL_RUN_LOCKED', {
          pipeline: spec.name,
          ...(unfinished ?? { run: 'not yet numbered', ...shown }),
        });
    }
    await sleep(waitFirstMs);
  }
};
