// A streaming standby of a test's server, made by copying its files: the npm build has no pg_basebackup.
//
// PostgreSQL, "Making a Base Backup Using the Low Level API" and "Setting Up a Standby Server".

import { execFile } from 'node:child_process';
import { appendFile, chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { saveCluster } from '../../src/embedded/cluster.ts';
import { choosePort } from '../../src/embedded/port.ts';
import { makeServerDirectory, openOwnServer, withPg, type OwnServer, type Settings } from './own-server.ts';

/** A primary that a standby can follow. */
export const primarySettings: Settings = {
  wal_level: 'replica',
  max_wal_senders: '5',
  hot_standby: 'on',
};

const run = promisify(execFile);

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Copies a data directory while its server runs; the label says where the copy's recovery begins. */
const copyDataDirectory = async (url: string, from: string, to: string, owner: Owner): Promise<string> =>
  withPg(url, async (client) => {
    // The session that starts a backup must be the one that ends it.
    await client.query(`select pg_backup_start('standby', true)`);
    await run('cp', ['-a', from, to], owner);
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    return rows[0].labelfile;
  });

/** Starts a hot standby that follows the primary, on a port of its own. */
export const startStandby = async (primary: OwnServer): Promise<OwnServer> => {
  const { url, directory: source } = primary.server;
  const { username, password, port: primaryPort } = new URL(url);
  const owner = await stat(source);
  const directory = await makeServerDirectory();
  const etlDirectory = join(directory, '.etl');
  await mkdir(etlDirectory);
  await chown(etlDirectory, owner.uid, owner.gid);
  const data = join(etlDirectory, 'database');
  const label = await copyDataDirectory(url, source, data, owner);
  // A directory of another user is not trusted.
  await chown(etlDirectory, process.getuid!(), process.getgid!());
  await rm(join(data, 'postmaster.pid'));
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(data, name), text);
    await chown(join(data, name), owner.uid, owner.gid);
  };
  await write('backup_label', label);
  await write('standby.signal', '');
  const conninfo = `host=127.0.0.1 port=${primaryPort} user=${username} password=${password}`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await saveCluster(etlDirectory, { directory: data, port: await choosePort(), password });
  return openOwnServer(directory, { fsync: 'off', ...primarySettings });
};
