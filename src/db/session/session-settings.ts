// Settings of a run's sessions that any role may change. A better value that the administrator has
// set is kept.

import { sortMemoryBytesMax } from '../../core/limits.ts';
import { runQuery, type Client } from '../client.ts';
import type { Query } from '../sql.ts';

/** Makes a commit wait for this server's disk. Not `on`, which could wait for a standby. */
const localCommits = (isLocal: boolean): Query => ({
  text: `select set_config('synchronous_commit', 'local', ${isLocal}) where current_setting('synchronous_commit') = 'off'`,
});

export const setDurableCommits = (client: Client): Promise<unknown> => runQuery(client, localCommits(false));

/**
 * From now on, commits of the session do not wait for the disk, until one is `durable` and writes
 * them all. A crash before it only takes back a build. A pooler might give the session to others.
 */
export const relaxCommits = async (client: Client): Promise<void> => {
  if (!client.isPooled) await client.query('set synchronous_commit = off');
};

export const durable: readonly Query[] = [
  { text: 'set local synchronous_commit to default' },
  localCommits(true),
];

/**
 * Sets the memory for index sorts: as much as shared_buffers, divided among the `sessions` that
 * build at once.
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
 * Sets the memory for a join's hash table until the transaction ends: with less, a large join is
 * written to disk. The processes of a parallel join share this memory.
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
