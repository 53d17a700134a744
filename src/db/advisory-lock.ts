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
