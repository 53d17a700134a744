// Chooses the system user of the embedded server, and checks which paths that user can reach.

import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Parses /etc/passwd. Negative ids (`nobody` is -2 on macOS) are converted to unsigned numbers. */
export const parsePasswd = (text: string): readonly Account[] =>
  text
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      (fields) => fields.length >= 7 && /^-?\d+$/.test(fields[2] ?? '') && /^-?\d+$/.test(fields[3] ?? ''),
    )
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }));

/**
 * Chooses the server's user if we are root, because PostgreSQL refuses to run as root: the owner of
 * an existing data directory (uid `owner`), otherwise `postgres`, otherwise `nobody`.
 */
export const chooseAccount = (passwd: string, owner?: number): Account | undefined => {
  const accounts = parsePasswd(passwd).filter(({ uid }) => uid !== 0);
  if (owner !== undefined) return accounts.find(({ uid }) => uid === owner);
  return accounts.find(({ name }) => name === 'postgres') ?? accounts.find(({ name }) => name === 'nobody');
};

interface Ownership {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the account's mode bits: 4 read, 2 write, 1 execute. Ignores access control lists, which
 * only causes needless copies.
 */
export const permissionsOf = ({ mode, uid, gid }: Ownership, account: Account): number => {
  if (account.uid === uid) return (mode >> 6) & 7;
  return account.gid === gid ? (mode >> 3) & 7 : mode & 7;
};

export const mayRead = 4;
export const mayEnter = 1;

/** Returns the outermost directory on the path that the account may not enter, if any. */
export const firstClosed = async (directory: string, account: Account): Promise<string | undefined> => {
  const path = await realpath(directory);
  const parent = dirname(path);
  const above = parent === path ? undefined : await firstClosed(parent, account);
  if (above !== undefined) return above;
  return permissionsOf(await stat(path), account) & mayEnter ? undefined : path;
};
