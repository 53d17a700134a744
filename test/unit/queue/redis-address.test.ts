// Redis URLs: what is parsed, and what is refused without repeating a password.

import { describe, expect, it } from 'vitest';
import { readRedisAddress, redisOfEnvironment, type RedisOptions } from '../../../src/queue/redis-address.ts';
import { refusalOf } from '../../helpers/failure.ts';

const plain = {
  username: undefined,
  password: undefined,
  database: 0,
  tls: undefined,
  sentinel: undefined,
  sentinelPassword: undefined,
  cluster: false,
};

const hosts = (...texts: readonly string[]) =>
  texts.map((text) => ({ host: text.split(':')[0], port: Number(text.split(':')[1]) }));

describe('readRedisAddress', () => {
  it.each<[name: string, given: RedisOptions, read: object]>([
    [
      'a host alone',
      { url: 'redis://cache' },
      { hosts: [{ host: 'cache', port: 6379 }], label: 'Redis at cache' },
    ],
    [
      'everything',
      { url: 'rediss://me:s%40crets@10.0.0.1:7000/3' },
      {
        hosts: [{ host: '10.0.0.1', port: 7000 }],
        username: 'me',
        password: 's@crets',
        database: 3,
        tls: {},
        label: 'Redis at 10.0.0.1:7000/3',
      },
    ],
    [
      'an address of version 6',
      { url: 'redis://[::1]:7000' },
      { hosts: [{ host: '::1', port: 7000 }], label: 'Redis at [::1]:7000' },
    ],
    [
      'Sentinels',
      { url: 'redis://a,b:2/1', sentinel: 'jobs' },
      {
        hosts: hosts('a:26379', 'b:2'),
        database: 1,
        sentinel: 'jobs',
        label: 'Redis at a,b:2/1 (Sentinel jobs)',
      },
    ],
    [
      'a Cluster',
      { url: 'redis://a,b:2', cluster: true },
      { hosts: hosts('a:6379', 'b:2'), cluster: true, label: 'Redis at a,b:2 (Cluster)' },
    ],
  ])('%s', (_, given, read) => expect(readRedisAddress(given)).toEqual({ ...plain, ...read }));

  it.each<[name: string, given: RedisOptions]>([
    ['another scheme', { url: 'http://me:secret@host' }],
    ['no host', { url: 'redis://me:secret@' }],
    ['a host that is none', { url: 'redis://me:secret@a:b:c' }],
    ['a password with a bare %', { url: 'redis://me:secret%@a' }],
    ['two hosts of nothing', { url: 'redis://me:secret@a,b' }],
    ['Sentinel and Cluster', { url: 'redis://me:secret@a,b', sentinel: 's', cluster: true }],
    ['a database of a Cluster', { url: 'redis://me:secret@a/1', cluster: true }],
  ])('refuses %s, and does not repeat the password', (_, given) => {
    const { code, message } = refusalOf(() => readRedisAddress(given));
    expect({ code, message }).toEqual({ code: 'ETL_USAGE', message: expect.not.stringContaining('secret') });
  });
});

describe('redisOfEnvironment', () => {
  it('is nothing without REDIS_URL', () =>
    expect(redisOfEnvironment({ REDIS_CLUSTER: '1' })).toBeUndefined());

  it('reads all four variables', () =>
    expect(
      redisOfEnvironment({
        REDIS_URL: 'redis://a',
        REDIS_SENTINEL: 'jobs',
        REDIS_SENTINEL_PASSWORD: 'p',
        REDIS_CLUSTER: 'true',
      }),
    ).toEqual({ url: 'redis://a', sentinel: 'jobs', sentinelPassword: 'p', cluster: true }));
});
