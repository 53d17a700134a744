// Connection options of Redis, for commands that use a queue: REDIS_URL and --redis-prefix.

import { EtlError } from '../core/errors/errors.ts';
import type { RedisOptions } from '../queue/redis-address.ts';
import type { Io } from './io.ts';

/** Returns the options of REDIS_URL if a key prefix is given, else none. Errors: ETL_USAGE. */
export const readRedis = async ({
  io,
  redisPrefix,
}: {
  readonly io: Io;
  readonly redisPrefix: string | undefined;
}): Promise<{ readonly redis?: RedisOptions }> => {
  if (redisPrefix === undefined) return {};
  const { redisOfEnvironment } = await import('../queue/redis-address.ts');
  const named = redisOfEnvironment(io.env);
  if (named !== undefined) return { redis: { ...named, prefix: redisPrefix } };
  // ETL_REDIS_PREFIX may be set for other commands; only the flag without REDIS_URL is a mistake.
  if (redisPrefix === io.env['ETL_REDIS_PREFIX']) return {};
  throw new EtlError('ETL_USAGE', {
    problem: '--redis-prefix is given, but REDIS_URL is not set',
    hint: 'Set REDIS_URL, or leave --redis-prefix out: without Redis the queue is in PostgreSQL.',
  });
};
