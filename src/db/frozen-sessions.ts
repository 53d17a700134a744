// Ends sessions of ours that another one of ours waits for, and whose process does nothing any more: a frozen machine, a
// process that was stopped and forgotten. The server sees an open connection, and would wait for ever.
//
// A worker that lives asks the server something every second. Any process that lives ends a COPY of its own for which it has
// no bytes (watchdog.ts), and is idle in a transaction only between two statements. Proved by test/fault/workers.test.ts, "are stopped for good".

import type pg from 'pg';
import { frozenMs } from '../limits.ts';
import { watchSessionOf } from './session-names.ts';
import type { Query } from './sql.ts';

interface Blocker {
  readonly pid: number;
  readonly state: string;
  /** 'ClientRead': it waits for its client. */
  readonly waitEvent: string | null;
  readonly quietMs: number;
  /** Bytes of its COPY so far, as a text; null when there is none. */
  readonly copied: string | null;
  readonly isUnwatched: boolean;
}

/** True when session `a` belongs to a worker that has asked nothing for so many milliseconds. */
const unwatched = (ms: string): string => `coalesce((
    select bool_and(w.state like 'idle%' and w.state_change < clock_timestamp() - ${ms} * interval '1 ms')
      from pg_stat_activity w
      where w.application_name = ${watchSessionOf('a.application_name')} and w.usename = current_user), false)`;

/** What sessions of ours a session ($1) waits for. */
const selectBlockers = `
  select a.pid, a.state, a.wait_event as "waitEvent", p.bytes_processed::text as copied,
    (extract(epoch from clock_timestamp() - a.state_change) * 1000)::float8 as "quietMs",
    ${unwatched('$2')} as "isUnwatched"
  from pg_stat_activity a left join pg_stat_progress_copy p on p.pid = a.pid
  where a.pid = any (pg_blocking_pids($1)) and a.usename = current_user and a.application_name like 'sluice%'`;

/** How far a COPY was when it was seen first, and when that was. */
interface Sighting {
  readonly copied: string;
  readonly atMs: number;
}

/** Ends what of the sessions that the one with this number waits for is frozen. */
export type EndFrozen = (asker: pg.Client, waiting: number) => Promise<void>;

/** Remembers how far each was: a COPY is frozen when nothing has moved between two looks that are far enough apart. */
export const createEndFrozen = (): EndFrozen => {
  const sightings = new Map<number, Sighting>();
  const isFrozen = ({ pid, state, waitEvent, quietMs, copied, isUnwatched }: Blocker): boolean => {
    if (isUnwatched) return true;
    if (state.startsWith('idle')) return quietMs >= frozenMs;
    if (copied === null || waitEvent !== 'ClientRead') return false;
    const seen = sightings.get(pid);
    if (seen?.copied === copied) return performance.now() - seen.atMs >= frozenMs;
    sightings.set(pid, { copied, atMs: performance.now() });
    return false;
  };
  return async (asker, waiting) => {
    const { rows } = await asker.query<Blocker>(selectBlockers, [waiting, frozenMs]);
    for (const pid of sightings.keys()) if (!rows.some((row) => row.pid === pid)) sightings.delete(pid);
    for (const { pid } of rows.filter(isFrozen)) await asker.query('select pg_terminate_backend($1)', [pid]);
  };
};

/** Ends all sessions of a run that has this one, if it belongs to a worker that is frozen; no row: it does not. */
export const endFrozenWorker = (session: number): Query => ({
  text: `select pg_terminate_backend(all_of_it.pid)
    from pg_stat_activity a join pg_stat_activity all_of_it using (application_name, usename)
    where a.pid = $1 and usename = current_user and ${unwatched('$2')}`,
  values: [session, frozenMs],
});
