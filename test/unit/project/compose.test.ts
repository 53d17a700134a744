// docker-compose.yml holds what its comments and the documentation say; no engine is needed to see that.

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readProjectFile } from './source-files.ts';

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly shm_size?: string;
}

const text = readProjectFile('docker-compose.yml');
const file = parse(text) as { services: Record<string, Service>; volumes: object };
const { postgres, redis } = file.services as { postgres: Service; redis: Service };

const settings = new Map(
  postgres.command
    .filter((word) => word.includes('='))
    .map((setting) => setting.split('=') as [string, string]),
);

describe('every service', () => {
  it.each(Object.entries(file.services))('%s listens on this machine only', (_, { ports }) => {
    expect(ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
  });

  it.each(Object.entries(file.services))('%s says when it is ready', (_, { healthcheck }) => {
    expect(healthcheck.test[0]).toBe('CMD');
  });

  it.each(Object.entries(file.services))('%s keeps its data in a declared volume', (_, { volumes }) => {
    const names = volumes.map((volume) => volume.split(':')[0]!);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !Object.hasOwn(file.volumes, name))).toEqual([]);
  });

  it.each(Object.entries(file.services))('%s names a version', (_, { image }) => {
    expect(image).toMatch(/:\d+$/);
  });
});

it('takes passwords from the environment, with a default for development', () => {
  expect(postgres.environment['POSTGRES_PASSWORD']).toBe('${POSTGRES_PASSWORD:-etl-development}');
  expect(redis.command.join(' ')).toContain('--requirepass ${REDIS_PASSWORD:-etl-development}');
});

it.each([
  'max_wal_size',
  'checkpoint_timeout',
  'wal_compression',
  'maintenance_work_mem',
  'max_parallel_maintenance_workers',
  'shared_buffers',
])('sets %s, with the reason in the line above', (name) => {
  expect(settings.get(name)).toMatch(/^\w+$/);
  expect(text).toMatch(new RegExp(`# [^\\n]+\\n      - -c\\n      - ${name}=`));
});

it('leaves durability alone', () => {
  expect([...settings.keys()]).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/fsync|full_page_writes|synchronous_commit/)]),
  );
});

it('gives parallel index builds shared memory', () => {
  expect(postgres.shm_size).toBe('1gb');
});

it('lets Redis refuse writes rather than drop jobs, and keep them over a restart', () => {
  expect(redis.command.join(' ')).toMatch(/--maxmemory-policy noeviction --appendonly yes/);
});
