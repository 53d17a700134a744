// A physical backup by the server's own means: the replication command that pg_basebackup sends. No program is needed,
// so the backup is of the server's version, whatever is installed.
//
// PostgreSQL, "Streaming Replication Protocol", BASE_BACKUP.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import pg from 'pg';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** pg hands the data of a COPY to the query that is running, which ignores it unless it has this method. */
interface CopyReader {
  handleCopyData: (message: { readonly chunk: Buffer }) => void;
}

/** Kind of a message, by its first byte; others are names and progress. Before PostgreSQL 15, all are data, and have no kind. */
const archiveData = 'd'.charCodeAt(0);

/**
 * Takes a backup into an empty directory of the server's user, with the log that it needs to start.
 *
 * @returns paths of all its files, relative to the directory
 */
export const takeBackup = async (
  url: string,
  directory: string,
  { uid, gid }: Owner,
): Promise<ReadonlySet<string>> => {
  const client = new pg.Client({ connectionString: url, replication: 'database' } as pg.ClientConfig);
  await client.connect();
  // Only root may change to another user, and the server runs as us otherwise.
  const user = process.geteuid?.() === 0 ? { uid, gid } : {};
  const tar = spawn('tar', ['-xf', '-'], { cwd: directory, stdio: ['pipe', 'ignore', 'inherit'], ...user });
  const unpacked = once(tar, 'close') as Promise<[number | null]>;
  try {
    const { rows } = await client.query('show server_version_num');
    const hasKinds = Number(rows[0].server_version_num) >= 150_000;
    const command = hasKinds
      ? `BASE_BACKUP (LABEL 'experiment', CHECKPOINT 'fast', WAL true, MANIFEST 'no')`
      : `BASE_BACKUP LABEL 'experiment' FAST WAL`;
    const query = new pg.Query(command) as pg.Query & CopyReader;
    query.handleCopyData = ({ chunk }) => {
      if (!hasKinds || chunk[0] === archiveData)
        tar.stdin.write(Buffer.from(chunk.subarray(hasKinds ? 1 : 0)));
    };
    const sent = new Promise<void>((resolve, reject) => {
      query.once('end', () => resolve());
      query.once('error', reject);
    });
    client.query(query);
    await sent;
  } finally {
    tar.stdin.end();
    await client.end();
  }
  const [code] = await unpacked;
  if (code !== 0) throw new Error(`tar ended with ${code}`);
  return new Set(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(directory, join(entry.parentPath, entry.name))),
  );
};
