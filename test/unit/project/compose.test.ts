// docker-compose.yml holds what its comments and the documentation say; no engine is needed to see that.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readProjectFile, root } from './source-files.ts';
import { words } from '../../helpers/words.ts';

/** What the tests below look at; `docker compose config` checks the rest. */
interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas: number };
  readonly shm_size?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

const text = readProjectFile('docker-compose.yml');
const { services, volumes } = parse(text) as {
  readonly services: Readonly<Record<'postgres' | 'redis' | 'worker' | 'schedule' | 'page', Service>>;
  readonly volumes: object;
};
const { postgres, redis, worker, schedule, page } = services;
const all = Object.entries(services);
const servers = Object.entries({ postgres, redis });

const settings = new Map(
  postgres.command
    ?.filter((word) => word.includes('='))
    .map((setting) => setting.split('=') as [string, string]),
);

// It knows every key. Not every machine has it, as a plugin or by itself; CI installs it.
const programs = [['docker', 'compose'] as const, ['docker-compose'] as const];
const compose = programs.find(([name, ...args]) => spawnSync(name, [...args, 'version']).status === 0);
it.skipIf(compose === undefined && process.env['CI'] === undefined)(
  '`docker compose config` accepts the file',
  () => {
    const [name, ...args] = compose ?? ['no docker compose'];
    const { status, stderr } = spawnSync(name, [...args, 'config', '--quiet'], { cwd: root });
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
  },
);

it('writes times and sizes as Compose reads them, which not all its versions check', () => {
  const amounts = [...text.matchAll(/^ +(?:\w+_)?(?:interval|timeout|period|size): (.*)$/gm)];
  expect(amounts.map(([, amount]) => amount)).toContain('2m');
  expect(amounts.filter(([, amount]) => !/^\d+(?:m|s|mb|gb)$/.test(amount!))).toEqual([]);
});

it('servers and the page listen on this machine only, and nothing else listens', () => {
  const published = all.flatMap(([, { ports = [] }]) => ports);
  expect(published.map((port) => port.split(':')[0])).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
});

describe('every service', () => {
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

it.each(
  words(`
    max_wal_size checkpoint_timeout wal_compression maintenance_work_mem
    max_parallel_maintenance_workers shared_buffers`),
)('sets %s, with the reason in the line above', (name) => {
  expect(settings.get(name)).toMatch(/^\w+$/);
  expect(text).toMatch(new RegExp(`# [^\\n]+\\n      - -c\\n      - ${name}=`));
});

it('leaves durability alone', () =>
  expect([...settings.keys()]).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/fsync|full_page_writes|synchronous_commit/)]),
  ));

it('gives parallel index builds shared memory', () => expect(postgres.shm_size).toBe('1gb'));

it('lets Redis refuse writes rather than drop jobs, and keep them over a restart', () =>
  expect(redis.command?.join(' ')).toMatch(/--maxmemory-policy noeviction --appendonly yes/));

/** Programs of ours. */
const ours = Object.entries({ worker, schedule, page });

describe.each(ours)(
  '%s',
  (_, { environment, volumes: mounts, read_only, cap_drop, security_opt, ...service }) => {
    it('begins when both servers are ready', () =>
      expect(Object.keys(service.depends_on ?? {}).slice(0, 2)).toEqual(['postgres', 'redis']));

    it('knows both servers by the users and passwords that these have', () =>
      expect(environment).toMatchObject({
        PGHOST: 'postgres',
        PGUSER: postgres.environment['POSTGRES_USER'],
        PGDATABASE: postgres.environment['POSTGRES_DB'],
        PGPASSWORD: postgres.environment['POSTGRES_PASSWORD'],
        REDIS_URL: `redis://:${redis.environment['REDISCLI_AUTH']}@redis:6379`,
      }));

    it('writes nothing, and cannot gain privileges', () =>
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
      }));
  },
);

describe('the page', () => {
  it('is published on the port that it listens on, and only reads', () => {
    const port = page.command?.[page.command.indexOf('--port') + 1];
    expect(page.ports?.[0]?.endsWith(`:${port}`)).toBe(true);
    expect(page.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/`);
    expect(page.command).not.toContain('--control');
  });

  it('has no token that others know', () => expect(page.environment['ETL_TOKEN']).toBe('${ETL_TOKEN:-}'));
});

// A service that ends is a failure for `docker compose up --wait`, unless another one waits for its end.
it('something waits until the schedule is in its place', () =>
  expect(page.depends_on?.['schedule']?.condition).toBe('service_completed_successfully'));

describe('the workers', () => {
  it('are two', () => expect(worker.deploy?.replicas).toBe(2));

  it('report whether they take work at the address of their health check', () => {
    const port = worker.command?.[worker.command.indexOf('--health-port') + 1];
    expect(worker.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/ready`);
  });
});
