// Redis when one is named, else the database itself.

import type { ServerAddress } from '../db/connect/address.ts';
import type { QueueBackend } from './backend.ts';
import { postgresBackend } from './postgres-backend.ts';
import { readRedisAddress, redisOfEnvironment, type RedisOptions } from './redis-address.ts';
import { redisBackend } from './redis-backend.ts';

/**
 * The backend of a door: `redis` as given, else as the environment says; false keeps queues in PostgreSQL whatever it says.
 * Errors: ETL_USAGE.
 */
export const chooseBackend = (
  address: ServerAddress,
  redis: RedisOptions | false | undefined,
  env: NodeJS.ProcessEnv,
): QueueBackend => {
  const named = redis ?? redisOfEnvironment(env);
  return named ? redisBackend(readRedisAddress(named)) : postgresBackend(address);
};
