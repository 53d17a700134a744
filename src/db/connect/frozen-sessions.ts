// Terminates sessions of ours that block another session of ours while their client is frozen, for
// example suspended. The server would wait for ever, because a frozen client's connections stay
// open.
//
// A live worker queries the server every second, over its watch session. A live process ends a COPY
// that gets no bytes (watchdog.ts), and does not stay idle in a transaction. A client counts as
// frozen only after two checks, because clocks jump when a machine wakes up. Proved by
// test/fault/workers.test.ts, "are stopped for good".

import type pg from 'pg';
import { closeTimeoutMs, frozenConfirmMs, frozenMs } from '../../core/limits.ts';
import { watchSessionOf } from './session-names.ts';
import type { Query } from '../sql.ts';

interface Blocker {
  readonly pid: number;
  readonly state: string;
  /** 'ClientRead': the server waits for its client. */
  readonly waitEvent: string | null;
  readonly isQuiet: boolean;
  /** Bytes that the session's COPY has received. */
  readonly copied: string | null;
  readonly lastSign: string | null;
  readonly since: string;
}

/** SQL condition: the session is one of sluice's, with our login role. */
const ours = (session: string): string =>
  `${session}.usename = session_user and (${session}.application_name = 'sluice' or ${session}.application_name like 'sluice %')`;

/** SQL: when the watch session of session a's process last ran a query; null if within `ms`. */
const lastSign = (ms: string): string => `(
    select case when bool_and(w.state like 'idle%' and w.state_change < clock_timestamp() - ${ms} * interval '1 ms')
        then max(w.state_change)::text end
      from pg_stat_activity w
      where w.application_name = ${watchSessionOf('a.application_name')} and w.usename = session_user)`;

const selectBlockers = `
  select a.pid, a.state, a.wait_event as "waitEvent", p.bytes_processed::text as copied,
    a.state_change < clock_timestamp() - $2 * interval '1 ms' as "isQuiet", a.state_change::text as since,
    ${lastSign('$2')} as "lastSign"
  from pg_stat_activity a left join pg_stat_progress_copy p on p.pid = a.pid
  where a.pid = any (pg_blocking_pids($1)) and a.state is not null and ${ours('a')}`;

interface Sighting {
  readonly shown: string;
  readonly atMs: number;
}

export type EndFrozen = (asker: pg.Client, waiting: number) => Promise<void>;

/** A sign that the client is frozen, if it does not change for `forMs`; undefined: it is alive. */
const symptom = (blocker: Blocker): { readonly shown: string; readonly forMs: number } | undefined => {
  const { state, waitEvent, isQuiet, copied, lastSign: sign, since } = blocker;
  if (sign !== null) return { shown: `unwatched ${sign}`, forMs: frozenConfirmMs };
  if (state.startsWith('idle')) return isQuiet ? { shown: since, forMs: frozenConfirmMs } : undefined;
  if (copied === null || waitEvent !== 'ClientRead') return undefined;
  return { shown: `copied ${copied}`, forMs: frozenMs };
};

export const createEndFrozen = (): EndFrozen => {
  const sightings = new Map<number, Sighting>();
  const isFrozen = (blocker: Blocker): boolean => {
    const found = symptom(blocker);
    const seen = sightings.get(blocker.pid);
    if (found === undefined) sightings.delete(blocker.pid);
    else if (seen?.shown !== found.shown)
      sightings.set(blocker.pid, { shown: found.shown, atMs: performance.now() });
    else return performance.now() - seen.atMs >= found.forMs;
    return false;
  };
  return async (asker, waiting) => {
    const { rows } = await asker.query<Blocker>(selectBlockers, [waiting, frozenMs]);
    for (const pid of sightings.keys()) if (!rows.some((row) => row.pid === pid)) sightings.delete(pid);
    for (const { pid } of rows.filter(isFrozen)) await asker.query('select pg_terminate_backend($1)', [pid]);
  };
};

/**
 * Selects the time of the watch session's last query (`sign`, null if recent), and the session's
 * `name`, which all sessions of its run share.
 */
export const selectLastSign = (session: number): Query => ({
  text: `select ${lastSign('$2')} as sign, a.application_name as name from pg_stat_activity a where a.pid = $1 and ${ours('a')}`,
  values: [session, frozenMs],
});

/** Waits up to `closeTimeoutMs` for the end of each session, which frees its locks. */
export const endSessionsNamed = (name: string): Query => ({
  text: `select pg_terminate_backend(pid, ${closeTimeoutMs}) from pg_stat_activity
    where application_name = $1 and pid <> pg_backend_pid() and usename = session_user and datname = current_database()`,
  values: [name],
});
