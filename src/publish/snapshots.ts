// Finds the sessions whose snapshot is older than the rows of the tables that were built.
//
// A name always leads to the table that has it now, but a snapshot decides which rows are visible. A reader with a snapshot from before
// the commit of the built rows would see the new table empty, without an error (PostgreSQL, "MVCC Caveats"). `create index concurrently`
// waits for such sessions, and so do we. Proved by test/modes/snapshots.test.ts.

import type { Client } from '../db/client.ts';
import type { SnapshotHolder } from '../core/model.ts';

/** One row: a holder, with what the server says of its snapshot. */
interface Found extends SnapshotHolder {
  /** Its virtual transaction and the oldest transaction that its snapshot sees running. */
  readonly key: string | null;
  /** Older than any snapshot that was taken after the first look: a transaction may import one later. */
  readonly isOlder: boolean;
  readonly limit: string;
  readonly oldest: string;
}

/**
 * Rows for all sessions of this database that may hold a snapshot, and for standbys. `$1`: every transaction below this one was assigned at
 * the first look; `$2`: the oldest that was running then. Null at the first look.
 *
 * The server hides `backend_xmin` of other roles from those who may not read statistics: then a session counts while its transaction lasts.
 * Autovacuum, and commands that read no table by its name, look at no new table. A prepared transaction reads nothing any more.
 * A standby reports its snapshots by its connection, or by its replication slot, if its `hot_standby_feedback` is on.
 */
const selectHolders = `
  with look as materialized (
    select coalesce($1::xid8, pg_snapshot_xmax(pg_current_snapshot())) as "limit",
      coalesce($2::xid8, pg_snapshot_xmin(pg_current_snapshot())) as oldest
  ),
  session as (
    select a.pid, a.usename, a.application_name, coalesce(a.xact_start, a.backend_start) as since, a.backend_xmin as xmin,
        l.virtualxid as transaction,
        pg_has_role(a.usesysid, 'usage') or pg_has_role('pg_read_all_stats', 'usage') as is_visible
      from pg_stat_activity a
        join pg_locks l on l.pid = a.pid and l.locktype = 'virtualxid' and l.granted and l.mode = 'ExclusiveLock'
      where a.datid = (select oid from pg_database where datname = current_database()) and a.usesysid is not null
        and a.pid <> pg_backend_pid()
        and a.pid not in (select pid from pg_stat_progress_vacuum
          union all select pid from pg_stat_progress_analyze union all select pid from pg_stat_progress_create_index)
  ),
  standby as (
    select pid, usename, application_name, backend_start as since, backend_xmin as xmin
      from pg_stat_replication where backend_xmin is not null
    union all
    select active_pid, null, 'replication slot ' || slot_name, null, xmin
      from pg_replication_slots where slot_type = 'physical' and active and xmin is not null
  ),
  holder as (
    select s.pid, s.usename, s.application_name, s.since, false as is_standby, s.transaction || ' ' || coalesce(s.xmin::text, '') as key,
        s.is_visible and age(s.xmin) > age(l.oldest::xid) as is_older
      from session s, look l where not s.is_visible or (s.xmin is not null and age(s.xmin) > age(l.limit::xid))
    union all
    select s.pid, s.usename, s.application_name, s.since, true, s.pid::text, true
      from standby s, look l where age(s.xmin) > age(l.limit::xid)
  )
  select l.limit::text as limit, l.oldest::text as oldest, h.pid, h.usename as user, nullif(h.application_name, '') as application,
      to_char(h.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since, coalesce(h.is_standby, false) as "isStandby", h.key,
      coalesce(h.is_older, false) as "isOlder"
    from look l left join holder h on true order by h.since, h.pid`;

/**
 * Returns a function that gives the sessions whose snapshot is older than its first call, as long as they have it. A session that takes
 * another snapshot later is not among them, however old the transactions are that it sees running.
 */
export const createSnapshotWatch = (client: Client): (() => Promise<readonly SnapshotHolder[]>) => {
  let first: Pick<Found, 'limit' | 'oldest'> | undefined;
  let held: ReadonlySet<string> | undefined;
  return async () => {
    const { rows } = await client.query<Found>(selectHolders, [first?.limit ?? null, first?.oldest ?? null]);
    first ??= rows[0]!;
    const holders = rows.filter(
      ({ key, isOlder }) => key !== null && (held === undefined || isOlder || held.has(key)),
    );
    held = new Set(holders.map(({ key }) => key!));
    return holders;
  };
};
