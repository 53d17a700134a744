// Chooses where queues are: in Redis if one is named, otherwise in the database.

import type { ServerAddress } from '../db/connect/address.ts';
import type { QueueBackend } from './backend.ts';
import { postgresBackend } from './postgres-backend.ts';
import { readRedisAddress, redisOfEnvironment, type RedisOptions } from './redis-address.ts';
import { redisBackend } from './redis-backend.ts';

/** `redis` overrules `env`; false means PostgreSQL. Errors: ETL_USAGE. */
export const chooseBackend = (
  address: ServerAddress,
  redis: RedisOptions | false | undefined,
  env: NodeJS.ProcessEnv,
): QueueBackend => {
  const named = redis ?? redisOfEnvironment(env);
  return named ? redisBackend(readRedisAddress(named)) : postgresBackend(address);
};
