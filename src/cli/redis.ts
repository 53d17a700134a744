// Redis for every command that uses the queue: REDIS_URL, with the prefix of this database's keys.

import { EtlError } from '../core/errors/errors.ts';
import type { RedisOptions } from '../queue/redis-address.ts';
import type { Io } from './io.ts';

/** Redis as the environment names it, if there is a prefix for it. Errors: ETL_USAGE. */
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
  // The variable may be meant for other commands.
  if (redisPrefix === io.env['ETL_REDIS_PREFIX']) return {};
  throw new EtlError('ETL_USAGE', {
    problem: '--redis-prefix is given, but REDIS_URL is not set',
    hint: 'Set REDIS_URL, or leave --redis-prefix out: without Redis the queue is in PostgreSQL.',
  });
};
