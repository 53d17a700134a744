// Finds sessions whose snapshots are older than the rows of the built tables.
//
// After a swap, a snapshot from before the commit of the new table's rows sees that table empty,
// without an error (PostgreSQL, "MVCC Caveats"). `create index concurrently` waits for such
// sessions, and so do we. Proved by test/modes/snapshots.test.ts.

import type { Client } from '../db/client.ts';
import type { SnapshotHolder } from '../core/run-event.ts';

interface Found extends SnapshotHolder {
  /** Virtual transaction and xmin of the session's snapshot; null: the session does not matter. */
  readonly key: string | null;
  /**
   * True if older than every snapshot taken since the first call. But a transaction may import it.
   */
  readonly isOlder: boolean;
  readonly limit: string;
  readonly oldest: string;
}

/**
 * SQL for sessions of this database that may hold such a snapshot, and all standbys. `$1`: at the
 * first call, all transactions below this one had been assigned; `$2`: the oldest transaction that
 * was running then. Both are null at the first call.
 *
 * Without pg_read_all_stats, `backend_xmin` of other roles is hidden; then a session counts until
 * its transaction ends. Autovacuum, analyze and `create index` do not read new tables.
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

/** Returns a function that lists sessions with a snapshot from before its first call. */
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
