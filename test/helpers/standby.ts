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

/** Makes a standby below `directory`, on a port of its own, for the embedded server to start. Returns the paths of the backup's files. */
export const makeStandby = async (
  primary: EmbeddedServer,
  directory: string,
): Promise<ReadonlySet<string>> => {
  const { username, password, port } = new URL(primary.url);
  const owner = await stat(primary.directory);
  const etlDirectory = join(directory, '.etl');
  const data = join(etlDirectory, 'database');
  // Ours, because a directory of another user is not trusted; the server's account has to get through it.
  await mkdir(etlDirectory, { mode: 0o755 });
  await mkdir(data, { mode: 0o700 });
  await chown(data, owner.uid, owner.gid);
  const backup = await takeBackup(primary.url, data, owner);
  await writeFile(join(data, 'standby.signal'), '');
  await chown(join(data, 'standby.signal'), owner.uid, owner.gid);
  const conninfo = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await saveCluster(etlDirectory, { directory: data, port: await choosePort(), password });
  return backup;
};

/** Starts a hot standby that follows the primary. */
export const startStandby = async (primary: OwnServer): Promise<OwnServer> => {
  const directory = await makeServerDirectory();
  await makeStandby(primary.server, directory);
  return openOwnServer(directory, { fsync: 'off', ...primarySettings });
};
