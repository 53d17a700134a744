// The prefix of this database's keys in Redis, for every command that uses the queue.

import type { Command, Option } from 'commander';
import { EtlError } from '../core/errors/errors.ts';
import type { RedisOptions } from '../queue/redis-address.ts';
import { flag, parseString, readFlag } from './flags.ts';
import type { Io } from './io.ts';

export const redisPrefixFlag = (): Option =>
  flag('--redis-prefix <text>', 'prefix of keys in Redis; default: derived from the database');

/** Redis as the environment names it, with the prefix, when there is one. Errors: ETL_USAGE. */
export const readRedis = async (command: Command, io: Io): Promise<{ readonly redis?: RedisOptions }> => {
  const prefix = readFlag(command, 'redisPrefix', parseString, io);
  if (prefix === undefined) return {};
  const { redisOfEnvironment } = await import('../queue/redis-address.ts');
  const named = redisOfEnvironment(io.env);
  if (named !== undefined) return { redis: { ...named, prefix } };
  // A variable may be meant for other commands.
  if (command.getOptionValueSource('redisPrefix') !== 'cli') return {};
  throw new EtlError('ETL_USAGE', {
    problem: '--redis-prefix is given, but REDIS_URL is not set',
    hint: 'Set REDIS_URL, or leave --redis-prefix out: without Redis the queue is in PostgreSQL.',
  });
};
