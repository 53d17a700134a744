// libpq's parameters on a real server. TLS is in tls.test.ts, lists of hosts in standby.test.ts,
// spelling in test/unit/db/connect/address.test.ts.

import { chmodSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withClient, type Client } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { main } from '../../src/cli/main.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const database = useDatabase();
const files = useFiles();
afterEach(() => vi.unstubAllEnvs());

/** The parts of the database's URL, as parameters. */
const parts = (): Record<string, string> => {
  const { hostname, port, pathname, username, password } = new URL(database.url);
  return { host: hostname, port, dbname: pathname.slice(1), user: username, password };
};

const pairsOf = (parameters: Record<string, string>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ');

const asked = <T>(
  url: string,
  ask: (client: Client) => Promise<T>,
  env: NodeJS.ProcessEnv = {},
): Promise<T> => withClient(addressFromUrl(url, env), ask);

const databaseAt = (url: string, env?: NodeJS.ProcessEnv): Promise<string> =>
  asked(url, async (client) => (await client.query('select current_database() as name')).rows[0].name, env);

const here = (): string => parts()['dbname']!;

describe('the database is reached', () => {
  const service = (settings: Record<string, string>): string =>
    files.write(
      'services.conf',
      `[warehouse]\n${Object.entries(settings)
        .map(([name, value]) => `${name}=${value}`)
        .join('\n')}\n`,
    );

  it('by keyword=value pairs', async () => expect(await databaseAt(pairsOf(parts()))).toBe(here()));

  it('by a service of the URL, not on localhost:5432', async () => {
    const env = { PGSERVICEFILE: service(parts()) };
    expect(await databaseAt('postgres://?service=warehouse', env)).toBe(here());
  });

  it('by PGSERVICE, with what the URL says beside it', async () => {
    const env = { PGSERVICEFILE: service({ ...parts(), dbname: 'nowhere' }), PGSERVICE: 'warehouse' };
    expect(await databaseAt(`postgres:///${here()}`, env)).toBe(here());
  });

  it('by the command line, from the environment alone', async () => {
    const io = fakeIo({ env: { PGSERVICEFILE: service(parts()), PGSERVICE: 'warehouse' } });
    expect({ exit: await main(['status'], io), err: io.stderr.text }).toEqual({ exit: 0, err: '' });
  });

  it('at hostaddr, where the name of the host is not looked up', async () => {
    const { host, ...others } = parts();
    const at = { ...others, host: 'db.invalid', hostaddr: host! };
    expect(await databaseAt(pairsOf(at))).toBe(here());
    expect(await databaseAt(pairsOf({ ...parts(), host: 'db.invalid' }), { PGHOSTADDR: host })).toBe(here());
  });

  it('with the password that passfile has for the host', async () => {
    const { password, host, ...others } = parts();
    const passfile = files.write('passwords', `db.invalid:*:*:*:${password}\n*:*:*:*:guess\n`);
    chmodSync(passfile, 0o600);
    const at = { ...others, host: 'db.invalid', hostaddr: host!, passfile };
    expect(await databaseAt(pairsOf(at))).toBe(here());
  });
});

describe('a session has', () => {
  it.each([
    { query: 'options=-c%20work_mem%3D5MB', show: 'work_mem', is: '5MB' },
    { query: 'options=-c+work_mem%3D5MB', show: 'work_mem', is: '5MB' },
    {
      query: 'application_name=mine&fallback_application_name=other',
      show: 'application_name',
      is: 'sluice',
    },
    { query: 'client_encoding=UTF8', show: 'client_encoding', is: 'UTF8' },
  ])('$query: $show is $is', async ({ query, show, is }) => {
    const { rows } = await asked(`${database.url}?${query}`, (client) => client.query(`show ${show}`));
    expect(rows).toEqual([{ [show]: is }]);
  });

  // The kernel shows in hundredths of a second when a socket's timer ends; timer 02 is keepalive's.
  it.runIf(process.platform === 'linux').each([
    { query: 'keepalives=0', timer: '00', seconds: 0 },
    { query: 'keepalives_idle=500', timer: '02', seconds: 500 },
    { query: 'keepalives=1&keepalives_idle=5000', timer: '02', seconds: 5000 },
  ])('$query', async ({ query, timer, seconds }) => {
    const found = await asked(`${database.url}?${query}`, async (client) => {
      const { localPort } = client.connection.stream as Socket;
      const suffix = `:${localPort!.toString(16).toUpperCase().padStart(4, '0')}`;
      const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n');
      const [kind, when] = lines
        .map((line) => line.trim().split(/\s+/))
        .find(([, local]) => local?.endsWith(suffix))![5]!
        .split(':') as [string, string];
      return { timer: kind, seconds: Number.parseInt(when, 16) / 100 };
    });
    expect(found.timer).toBe(timer);
    expect(found.seconds).toBeLessThanOrEqual(seconds);
    expect(found.seconds).toBeGreaterThanOrEqual(seconds * 0.5);
  });

  it('connect_timeout: a host that never answers is given up, and the next one is tried', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const { host, port: ours, ...others } = parts();
    const at = (ports: string): string =>
      pairsOf({ ...others, host: ports.replaceAll(/\d+/g, host!), port: ports, connect_timeout: '1' });
    expect(await failureOf(databaseAt(at(String(port))))).toMatchObject({
      code: 'ETL_CONNECT',
      cause: { code: 'ETIMEDOUT' },
    });
    expect(await databaseAt(at(`${port},${ours}`))).toBe(here());
    silent.close();
  });
});

describe('refused before anything is opened', () => {
  it.each([
    {
      args: ['status', '--database-url', ''],
      env: {},
      code: 'ETL_USAGE',
      message: 'the database URL is empty',
    },
    {
      args: ['status'],
      env: { PGHOST: 'db', PGGSSENCMODE: 'require' },
      code: 'ETL_ENVIRONMENT',
      message: 'PGGSSENCMODE',
    },
    {
      args: ['status'],
      env: { PGSERVICE: 'nope', PGSERVICEFILE: '/nowhere' },
      code: 'ETL_USAGE',
      message: '/nowhere',
    },
  ])('etl $args with $env', async ({ args, env, code, message }) => {
    const io = fakeIo({ env });
    expect(await main(args, io)).toBe(2);
    expect(io.stderr.text).toMatch(new RegExp(`^error ${code}: .*${message}`));
  });
});
