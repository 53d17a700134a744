// Advisory locks: the numbers we use, in one place, so that no two purposes share one.

import type { Client } from './client.ts';

/** "slce" in ASCII: the first key of every lock of ours, so that it meets no other program's. */
const ours = 0x736c6365;

export const advisoryKeys = {
  migrate: [ours, 1],
  epoch: [ours, 3],
  createSchema: [ours, 4],
} as const;

/**
 * Takes the session lock "this pipeline is being run"; false when another session holds it.
 * It dies with the connection, so a killed process never leaves it behind.
 */
export const tryLockPipeline = async (client: Client, pipeline: string): Promise<boolean> => {
  const result = await client.query(
    `select pg_try_advisory_lock(hashtextextended('sluice pipeline ' || $1, $2)) as locked`,
    [pipeline, ours],
  );
  return result.rows[0].locked;
};
