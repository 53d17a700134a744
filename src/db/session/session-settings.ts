// What a run's sessions set for themselves on the server, above what every session of ours does (client.ts).
//
// Only what any role may set, and never against the administrator of the server: a setting that is already better is kept.
// docs/operations/server.md lists these settings, and those that are not changed.

import { sortMemoryBytesMax } from '../../core/limits.ts';
import type { Client } from '../client.ts';

/**
 * The coordinator's commits, that of the publication among them, are on this server's disk when they return, even where
 * commits are usually reported before. Not `on`: a standby that nobody waits for should not be waited for now.
 */
export const setDurableCommits = async (client: Client): Promise<void> => {
  await client.query(`select set_config('synchronous_commit', 'local', false)
    where current_setting('synchronous_commit') = 'off'`);
};

/**
 * Memory for sorting indexes: what the server has for its buffers, divided among the sessions that build side by side.
 * The parallel workers of one build share what its session has ("Resource Consumption", maintenance_work_mem).
 */
export const setSortMemory = async (client: Client, sessions: number): Promise<void> => {
  await client.query(
    `select set_config('maintenance_work_mem', wanted / 1024 || 'kB', false)
      from (select least(pg_size_bytes(current_setting('shared_buffers')), $1::bigint) / $2::int as wanted) as share
      where wanted > pg_size_bytes(current_setting('maintenance_work_mem'))`,
    [sortMemoryBytesMax, sessions],
  );
};

/**
 * Memory for the hash table of a join, until the transaction ends: all processes that may share the join together have as much as
 * for sorting an index. With less, both sides of a large join are written to disk and read again.
 */
export const setJoinMemory = async (client: Client): Promise<void> => {
  await client.query(
    `select set_config('work_mem', wanted / 1024 || 'kB', true)
      from (select floor(least(pg_size_bytes(current_setting('shared_buffers')), $1::bigint)
          / current_setting('hash_mem_multiplier')::float8
          / (current_setting('max_parallel_workers_per_gather')::int + 1))::bigint as wanted) as share
      where wanted > pg_size_bytes(current_setting('work_mem'))`,
    [sortMemoryBytesMax],
  );
};
