// docker-compose.yml holds what its comments and the documentation say; no engine is needed to see that.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readProjectFile, root } from './source-files.ts';

const duration = z.string().regex(/^(?:\d+(?:h|m|s|ms))+$/);
const size = z.string().regex(/^\d+(?:b|kb?|mb?|gb?)$/);
const command = z.array(z.string()).min(1);

/** The keys of the Compose Specification that the file uses, as it describes them; any other key is a mistake. */
const serviceSchema = z.strictObject({
  image: z.string().optional(),
  build: z.string().optional(),
  command: command.optional(),
  environment: z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string()),
  ports: z.array(z.string().regex(/^[\d.]+:\$\{[A-Z_]+:-\d+\}:\d+$/)).optional(),
  volumes: z.array(z.string().regex(/^(?:[a-z]+|\.\/[a-z]+):\/[\w/]+(?::ro)?$/)),
  healthcheck: z
    .strictObject({
      test: command,
      interval: duration,
      timeout: duration,
      retries: z.int().positive(),
      start_period: duration.optional(),
    })
    .optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  deploy: z.strictObject({ replicas: z.int().positive() }).optional(),
  init: z.boolean().optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).optional(),
  stop_grace_period: duration.optional(),
  shm_size: size.optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string().startsWith('/')).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
});
const fileSchema = z.strictObject({
  services: z.strictObject({ postgres: serviceSchema, redis: serviceSchema, worker: serviceSchema }),
  volumes: z.record(z.string(), z.null()),
});

const text = readProjectFile('docker-compose.yml');
const checked = fileSchema.safeParse(parse(text));
if (!checked.success) throw checked.error;
const { services, volumes } = checked.data;
const { postgres, redis, worker } = services;
const all = Object.entries(services);
const servers = Object.entries({ postgres, redis });

const settings = new Map(
  postgres.command
    ?.filter((word) => word.includes('='))
    .map((setting) => setting.split('=') as [string, string]),
);

// Not every machine has the program, as a plugin or by itself; CI installs it. The schema above holds everywhere.
const programs = [['docker', 'compose'] as const, ['docker-compose'] as const];
const compose = programs.find(([name, ...words]) => spawnSync(name, [...words, 'version']).status === 0);
it.skipIf(compose === undefined && process.env['CI'] === undefined)(
  '`docker compose config` accepts the file',
  () => {
    const [name, ...words] = compose ?? ['no docker compose'];
    const { status, stderr } = spawnSync(name, [...words, 'config', '--quiet'], { cwd: root });
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
  },
);

describe('every service', () => {
  it.each(all)('%s listens on this machine only', (_, { ports = [] }) => {
    expect(ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
  });

  it.each(all)('%s is an image of a named version, or built here', (_, { image, build }) => {
    expect(image ?? build).toMatch(build === undefined ? /:\d+$/ : /^\.$/);
  });

  it.each(all)('%s mounts declared volumes and directories that are there', (_, service) => {
    const sources = service.volumes.map((volume) => volume.split(':')[0]!);
    const isThere = (name: string): boolean =>
      name.startsWith('./') ? existsSync(join(root, name)) : Object.hasOwn(volumes, name);
    expect(sources.filter((name) => !isThere(name))).toEqual([]);
  });
});

describe('every server', () => {
  it.each(servers)('%s says when it is ready', (_, { healthcheck }) => {
    expect(healthcheck?.test[0]).toBe('CMD');
  });

  it.each(servers)('%s keeps its data', (_, service) => {
    expect(service.volumes.filter((volume) => !volume.startsWith('.'))).toHaveLength(1);
  });
});

it('takes passwords from the environment, with a default for development', () => {
  expect(postgres.environment['POSTGRES_PASSWORD']).toBe('${POSTGRES_PASSWORD:-etl-development}');
  expect(redis.command?.join(' ')).toContain('--requirepass ${REDIS_PASSWORD:-etl-development}');
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
  expect(redis.command?.join(' ')).toMatch(/--maxmemory-policy noeviction --appendonly yes/);
});

describe('the workers', () => {
  it('are two, and begin when both servers are ready', () => {
    const { deploy, depends_on: dependsOn = {} } = worker;
    expect({ replicas: deploy?.replicas, servers: Object.keys(dependsOn) }).toEqual({
      replicas: 2,
      servers: ['postgres', 'redis'],
    });
  });

  it('know both servers by the users and passwords that these have', () => {
    expect(worker.environment).toEqual({
      PGHOST: 'postgres',
      PGUSER: postgres.environment['POSTGRES_USER'],
      PGDATABASE: postgres.environment['POSTGRES_DB'],
      PGPASSWORD: postgres.environment['POSTGRES_PASSWORD'],
      REDIS_URL: `redis://:${redis.environment['REDISCLI_AUTH']}@redis:6379`,
    });
  });

  it('say whether they take work, where the check asks', () => {
    const port = worker.command?.[worker.command.indexOf('--health-port') + 1];
    expect(worker.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/ready`);
  });

  it('write nothing, and may become nobody else', () => {
    const { volumes: mounts, read_only, cap_drop, security_opt } = worker;
    expect({
      readOnly: mounts.every((mount) => mount.endsWith(':ro')),
      read_only,
      cap_drop,
      security_opt,
    }).toEqual({
      readOnly: true,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });
});
