// Chooses the operating system user that the embedded server runs as, and finds out which paths that user can reach.

import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Lines of /etc/passwd. A negative id (`nobody` is -2 on macOS) is the same number, unsigned. */
export const parsePasswd = (text: string): readonly Account[] =>
  text
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      (fields) => fields.length >= 7 && /^-?\d+$/.test(fields[2] ?? '') && /^-?\d+$/.test(fields[3] ?? ''),
    )
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }));

/**
 * The account that runs the server when we are root, which PostgreSQL refuses: the owner of an existing data directory, else
 * `postgres`, else `nobody`. PostgreSQL looks it up in /etc/passwd.
 *
 * @param owner uid of the existing data directory
 * @returns undefined when there is nobody to run it
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
 * The rwx bits (4, 2, 1) that an account has, as the kernel picks them: owner, else group, else others. Access control lists are
 * ignored: at worst something is copied without need.
 */
export const permissionsOf = ({ mode, uid, gid }: Ownership, account: Account): number => {
  if (account.uid === uid) return (mode >> 6) & 7;
  return account.gid === gid ? (mode >> 3) & 7 : mode & 7;
};

/** Bits of permissionsOf. */
export const mayRead = 4;
export const mayEnter = 1;

/**
 * The outermost directory on the way to a directory, itself included, that the account may not enter.
 *
 * @returns undefined when the account can work inside the directory
 */
export const firstClosed = async (directory: string, account: Account): Promise<string | undefined> => {
  const path = await realpath(directory);
  const parent = dirname(path);
  const above = parent === path ? undefined : await firstClosed(parent, account);
  if (above !== undefined) return above;
  return permissionsOf(await stat(path), account) & mayEnter ? undefined : path;
};
