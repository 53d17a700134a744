// Chooses the system user of the embedded server, and checks which paths that user can reach.

import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** A negative id (`nobody` is -2 on macOS) is the same number, unsigned. */
export const parsePasswd = (text: string): readonly Account[] =>
  text
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      (fields) => fields.length >= 7 && /^-?\d+$/.test(fields[2] ?? '') && /^-?\d+$/.test(fields[3] ?? ''),
    )
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }));

/**
 * PostgreSQL refuses to run as root. So root uses the owner of the data directory (uid `owner`),
 * else `postgres`, else `nobody`.
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

/** Bits 4 read, 2 write, 1 execute. Ignoring access control lists only causes needless copies. */
export const permissionsOf = ({ mode, uid, gid }: Ownership, account: Account): number => {
  if (account.uid === uid) return (mode >> 6) & 7;
  return account.gid === gid ? (mode >> 3) & 7 : mode & 7;
};

export const mayRead = 4;
export const mayEnter = 1;

/** Outermost directory on the path that the account may not enter. */
export const firstClosed = async (directory: string, account: Account): Promise<string | undefined> => {
  const path = await realpath(directory);
  const parent = dirname(path);
  const above = parent === path ? undefined : await firstClosed(parent, account);
  if (above !== undefined) return above;
  return permissionsOf(await stat(path), account) & mayEnter ? undefined : path;
};
