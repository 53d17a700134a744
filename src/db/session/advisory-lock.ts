// The session lock that keeps a pipeline to one run at a time.

import { lockSpace } from '../connect/advisory-keys.ts';
import type { Client } from '../client.ts';

/** SQL: the key of a pipeline's lock, whose name and our lock space are SQL themselves. */
const pipelineKey = (pipeline: string, space: string | number): string =>
  `hashtextextended('sluice pipeline ' || ${pipeline}, ${space})`;

/** SQL: whether a row l of pg_locks is that lock, granted. */
const isPipelineLock = (pipeline: string, space: string | number): string => `
  l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = ${pipelineKey(pipeline, space)}`;

/**
 * Takes the session lock "this pipeline is being run"; false when another session holds it.
 * It dies with the connection, so a killed process never leaves it.
 */
export const tryLockPipeline = async (client: Client, pipeline: string): Promise<boolean> => {
  const result = await client.query(`select pg_try_advisory_lock(${pipelineKey('$1', '$2')}) as locked`, [
    pipeline,
    lockSpace,
  ]);
  return result.rows[0].locked;
};

/** SQL: whether the session of the server process `pid` holds the lock of `pipeline`; both are SQL themselves. */
export const holdsPipelineLock = (pipeline: string, pid: string): string =>
  `exists (select from pg_locks l where l.pid = ${pid} and ${isPipelineLock(pipeline, lockSpace)})`;

const buildKey = `hashtextextended('sluice build ' || $1, $2)`;

/** Held by a session while it builds tables of a pipeline. */
export const lockBuild = async (client: Client, pipeline: string): Promise<void> => {
  await client.query(`select pg_advisory_lock_shared(${buildKey})`, [pipeline, lockSpace]);
};

/**
 * Waits until nobody builds tables of a pipeline any more: sessions of a process that was killed, or that lost its
 * coordinator's connection, may be busy for a while. Called by the holder of the pipeline's lock.
 */
export const awaitBuildsEnd = async (client: Client, pipeline: string): Promise<void> => {
  await client.query(`select pg_advisory_lock(${buildKey})`, [pipeline, lockSpace]);
  await client.query(`select pg_advisory_unlock(${buildKey})`, [pipeline, lockSpace]);
};

/** The session that holds the lock of a pipeline ($1, with our lock space as $2): for people, and its number. */
export const lockHolder = `
  select a.pid as session, coalesce(host(a.client_addr), 'the server itself') as host, a.pid || ' of the server' as pid,
    to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') as started
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where ${isPipelineLock('$1', '$2')}`;
