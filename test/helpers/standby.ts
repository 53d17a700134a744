// A streaming standby of a server that is ours, made of a physical backup: the npm build has no pg_basebackup.
//
// PostgreSQL, "Setting Up a Standby Server".

import { appendFile, chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { takeBackup } from '../../bench/experiments/base-backup.ts';
import { saveCluster } from '../../src/db/embedded/cluster.ts';
import { choosePort } from '../../src/db/embedded/port.ts';
import type { EmbeddedServer } from '../../src/db/embedded/server.ts';
import { makeServerDirectory, openOwnServer, type OwnServer, type Settings } from './own-server.ts';

/** A primary that a standby can follow. */
export const primarySettings: Settings = { wal_level: 'replica', max_wal_senders: '5', hot_standby: 'on' };

/** Restores a backup below `directory`, on a port of its own, for the embedded server to start. Returns the paths of its files. */
const restoreBackup = async (primary: EmbeddedServer, directory: string): Promise<ReadonlySet<string>> => {
  const owner = await stat(primary.directory);
  const etlDirectory = join(directory, '.etl');
  const data = join(etlDirectory, 'database');
  // Ours, because a directory of another user is not trusted; the server's account has to get through it.
  await mkdir(etlDirectory, { mode: 0o755 });
  await mkdir(data, { mode: 0o700 });
  await chown(data, owner.uid, owner.gid);
  const backup = await takeBackup(primary.url, data, owner);
  await saveCluster(etlDirectory, {
    directory: data,
    port: await choosePort(),
    password: new URL(primary.url).password,
  });
  return backup;
};

/** Makes a standby below `directory`. Returns the paths of the backup's files. */
export const makeStandby = async (
  primary: EmbeddedServer,
  directory: string,
): Promise<ReadonlySet<string>> => {
  const backup = await restoreBackup(primary, directory);
  const { username, password, port } = new URL(primary.url);
  const owner = await stat(primary.directory);
  const data = join(directory, '.etl', 'database');
  await writeFile(join(data, 'standby.signal'), '');
  await chown(join(data, 'standby.signal'), owner.uid, owner.gid);
  const conninfo = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  return backup;
};

const startCopy = async (make: typeof makeStandby, primary: OwnServer): Promise<OwnServer> => {
  const directory = await makeServerDirectory();
  await make(primary.server, directory);
  return openOwnServer(directory, { fsync: 'off', ...primarySettings });
};

/** Starts a hot standby that follows the primary. */
export const startStandby = (primary: OwnServer): Promise<OwnServer> => startCopy(makeStandby, primary);

/** Starts a server from a physical backup that is taken now: the primary as it was, and on its own from then on. */
export const startRestored = (primary: OwnServer): Promise<OwnServer> => startCopy(restoreBackup, primary);
