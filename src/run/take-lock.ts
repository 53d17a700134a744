// One run per pipeline: takes the pipeline's lock, or says who has it.

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { selectHolder } from '../checkpoint/ledger.ts';
import { tryLockPipeline } from '../db/advisory-lock.ts';
import { runQuery, type Client } from '../db/client.ts';
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
const endOldSessions = async (client: Client): Promise<void> => {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = current_setting('application_name') and pid <> pg_backend_pid() and usename = current_user`,
  );
};

/**
 * Takes the lock, which lasts as long as the connection. When its holder's process is known to be dead, or is an older
 * connection of ours, the server is given a moment to notice.
 *
 * Errors: ETL_RUN_LOCKED with run, host, process and start of the holder.
 */
export const takeLock = async (context: RunContext, isRetry: boolean): Promise<void> => {
  const { client, spec } = context;
  if (isRetry) await endOldSessions(client);
  const deadline = performance.now() + deadHolderWaitMs;
  while (!(await tryLockPipeline(client, spec.name))) {
    const { rows } = await runQuery(client, selectHolder(spec.name));
    const holder = rows[0] ?? { run: 0, host: 'an unknown host', pid: 0, started: 'just now' };
    const isDying = isRetry || (holder.host === hostname() && isGone(holder.pid));
    if (!isDying || performance.now() > deadline)
      throw new EtlError('ETL_RUN_LOCKED', { pipeline: spec.name, ...holder });
    await sleep(waitFirstMs);
  }
};
