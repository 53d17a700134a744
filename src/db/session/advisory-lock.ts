// The session lock that allows one run at a time for a pipeline.

import { lockSpace } from '../connect/advisory-keys.ts';
import type { Client } from '../client.ts';

const pipelineKey = (pipeline: string, space: string | number): string =>
  `hashtextextended('sluice pipeline ' || ${pipeline}, ${space})`;

/** SQL condition: row `l` of pg_locks is the pipeline's lock. */
const isPipelineLock = (pipeline: string, space: string | number): string => `
  l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = ${pipelineKey(pipeline, space)}`;

export const tryLockPipeline = async (client: Client, pipeline: string): Promise<boolean> => {
  const result = await client.query(`select pg_try_advisory_lock(${pipelineKey('$1', '$2')}) as locked`, [
    pipeline,
    lockSpace,
  ]);
  return result.rows[0].locked;
};

/** SQL condition: server process `pid` holds the lock. Both arguments are SQL expressions. */
export const holdsPipelineLock = (pipeline: string, pid: string): string =>
  `exists (select from pg_locks l where l.pid = ${pid} and ${isPipelineLock(pipeline, lockSpace)})`;

const buildKey = `hashtextextended('sluice build ' || $1, $2)`;

export const lockBuild = async (client: Client, pipeline: string): Promise<void> => {
  await client.query(`select pg_advisory_lock_shared(${buildKey})`, [pipeline, lockSpace]);
};

/**
 * Waits until no other session builds tables of the pipeline: a killed process may have left some.
 * The caller holds the pipeline's lock.
 */
export const awaitBuildsEnd = async (client: Client, pipeline: string): Promise<void> => {
  await client.query(`select pg_advisory_lock(${buildKey}), pg_advisory_unlock(${buildKey})`, [
    pipeline,
    lockSpace,
  ]);
};

/** SQL: the session that holds pipeline $1's lock; $2 is `lockSpace`. */
export const lockHolder = `
  select a.pid as session, coalesce(host(a.client_addr), 'the server itself') as host, a.pid || ' of the server' as pid,
    to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') as started
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where ${isPipelineLock('$1', '$2')}`;
