// A PgBouncer of a test's own in front of a server, on a loopback port and in a temporary directory.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseAccount } from '../../src/db/embedded/account.ts';
import { freePort } from './redis-server.ts';
import { withPg } from './own-server.ts';

/** Whether the tests that need it can run; in CI they must. */
export const hasPgBouncer =
  process.env['CI'] !== undefined || spawnSync('pgbouncer', ['--version']).status === 0;

export type PoolMode = 'session' | 'transaction' | 'statement';

export interface PgBouncer {
  /** The way to a database through it. */
  readonly urlOf: (databaseUrl: string) => string;
  readonly stop: () => Promise<void>;
}

interface Given {
  readonly mode: PoolMode;
  /** Of the server that it serves: host, port, user and password. */
  readonly serverUrl: string;
  /** Connections to the server for each database and user. */
  readonly poolSize?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** It refuses to run as root. */
const asOther = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = chooseAccount(readFileSync('/etc/passwd', 'utf8'))!;
  return { uid, gid };
};

const writeFiles = (directory: string, port: number, given: Given): string => {
  const { hostname, port: serverPort, username, password } = new URL(given.serverUrl);
  const users = join(directory, 'users.txt');
  writeFileSync(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    pool_mode: given.mode,
    default_pool_size: String(given.poolSize ?? 20),
    ...given.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(directory, 'pgbouncer.ini');
  const databases = `[databases]\n* = host=${hostname} port=${serverPort}\n`;
  writeFileSync(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`);
  return file;
};

/** Starts one, with the defaults of PgBouncer but for what is given. */
export const startPgBouncer = async (given: Given): Promise<PgBouncer> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const child: ChildProcess = spawn('pgbouncer', [writeFiles(directory, port, given)], {
    stdio: 'ignore',
    ...asOther(),
  });
  child.on('error', () => undefined);
  const urlOf: PgBouncer['urlOf'] = (databaseUrl) => {
    const url = new URL(databaseUrl);
    [url.hostname, url.port] = ['127.0.0.1', String(port)];
    return url.href;
  };
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  const stop = async (): Promise<void> => {
    const gone = once(child, 'exit');
    if (isAlive() && child.kill('SIGKILL')) await gone;
    rmSync(directory, { recursive: true, force: true });
  };
  const answers = (): Promise<boolean> =>
    withPg(urlOf(given.serverUrl), (client) => client.query('select')).then(
      () => true,
      () => false,
    );
  while (!(await answers())) {
    if (!isAlive()) {
      await stop();
      throw new Error('pgbouncer does not start: apt-get install pgbouncer');
    }
    await sleep(20);
  }
  return { urlOf, stop };
};
