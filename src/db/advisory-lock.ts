// The session lock that keeps a pipeline to one run at a time.

import { lockSpace } from './advisory-keys.ts';
import type { Client } from './client.ts';

/**
 * Takes the session lock "this pipeline is being run"; false when another session holds it.
 * It dies with the connection, so a killed process never leaves it behind.
 */
export const tryLockPipeline = async (client: Client, pipeline: string): Promise<boolean> => {
  const result = await client.query(
    `select pg_try_advisory_lock(hashtextextended('sluice pipeline ' || $1, $2)) as locked`,
    [pipeline, lockSpace],
  );
  return result.rows[0].locked;
};

/** The session that holds the lock of a pipeline ($1, with our lock space as $2), for people. */
export const lockHolder = `
  select coalesce(host(a.client_addr), 'the server itself') as host, 'server process ' || a.pid as pid,
    to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') as started
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended('sluice pipeline ' || $1, $2)`;
