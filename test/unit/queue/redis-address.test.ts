// Redis URLs: what is parsed, and what is refused without repeating a password.

import { describe, expect, it } from 'vitest';
import { EtlError } from '../../../src/core/errors/errors.ts';
import { readRedisAddress, redisOfEnvironment, type RedisOptions } from '../../../src/queue/redis-address.ts';

const plain = {
  username: undefined,
  password: undefined,
  database: 0,
  tls: undefined,
  sentinel: undefined,
  sentinelPassword: undefined,
  cluster: false,
};

describe('readRedisAddress', () => {
  it.each<{ name: string; given: RedisOptions; read: object }>([
    {
      name: 'a host alone',
      given: { url: 'redis://cache' },
      read: { ...plain, hosts: [{ host: 'cache', port: 6379 }], label: 'Redis at cache' },
    },
    {
      name: 'everything',
      given: { url: 'rediss://me:s%40crets@10.0.0.1:7000/3' },
      read: {
        ...plain,
        hosts: [{ host: '10.0.0.1', port: 7000 }],
        username: 'me',
        password: 's@crets',
        database: 3,
        tls: {},
        label: 'Redis at 10.0.0.1:7000/3',
      },
    },
    {
      name: 'an address of version 6',
      given: { url: 'redis://[::1]:7000' },
      read: { ...plain, hosts: [{ host: '::1', port: 7000 }], label: 'Redis at [::1]:7000' },
    },
    {
      name: 'Sentinels',
      given: { url: 'redis://a,b:2/1', sentinel: 'jobs' },
      read: {
        ...plain,
        hosts: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 2 },
        ],
        database: 1,
        sentinel: 'jobs',
        label: 'Redis at a,b:2/1 (Sentinel jobs)',
      },
    },
    {
      name: 'a Cluster',
      given: { url: 'redis://a,b:2', cluster: true },
      read: {
        ...plain,
        hosts: [
          { host: 'a', port: 6379 },
          { host: 'b', port: 2 },
        ],
        cluster: true,
        label: 'Redis at a,b:2 (Cluster)',
      },
    },
  ])('$name', ({ given, read }) => expect(readRedisAddress(given)).toEqual(read));

  it.each<{ name: string; given: RedisOptions }>([
    { name: 'another scheme', given: { url: 'http://me:secret@host' } },
    { name: 'no host', given: { url: 'redis://me:secret@' } },
    { name: 'a host that is none', given: { url: 'redis://me:secret@a:b:c' } },
    { name: 'a password with a bare %', given: { url: 'redis://me:secret%@a' } },
    { name: 'two hosts of nothing', given: { url: 'redis://me:secret@a,b' } },
    { name: 'Sentinel and Cluster', given: { url: 'redis://me:secret@a,b', sentinel: 's', cluster: true } },
    { name: 'a database of a Cluster', given: { url: 'redis://me:secret@a/1', cluster: true } },
  ])('refuses $name, and does not repeat the password', ({ given }) => {
    let refusal: unknown;
    try {
      readRedisAddress(given);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(EtlError);
    expect(refusal).toMatchObject({ code: 'ETL_USAGE', message: expect.not.stringContaining('secret') });
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
