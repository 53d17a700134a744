// Detects files that another user of this machine may have made. Not on Windows.

import { closeSync, constants, fstatSync, lstatSync, openSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './errors/errors.ts';

type Owned = Pick<Stats, 'uid' | 'mode'>;

const self = (): number | undefined => process.geteuid?.();

export const isOfThisUser = ({ uid }: Pick<Owned, 'uid'>): boolean => uid === (self() ?? uid);

export const isOwn = (found: Owned): boolean =>
  self() === undefined || (isOfThisUser(found) && (found.mode & 0o022) === 0);

/**
 * Opens a file that only this user can have written. Links are refused: another user who made the
 * link would choose the file. Only the owner can read a created file.
 *
 * @param flags such as `constants.O_RDONLY`
 */
export const openOwn = (path: string, flags: number): number => {
  const refused = new Error(`${path} is a link or no file, or other users may write to it`);
  // Without O_NONBLOCK, opening a pipe would wait for its other end.
  const careful = flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let fd: number;
  try {
    fd = openSync(path, careful, 0o600);
  } catch (error) {
    throw ['ELOOP', 'ENXIO'].includes(codeOf(error) ?? '') ? refused : error;
  }
  const found = fstatSync(fd);
  if (found.isFile() && isOwn(found)) return fd;
  closeSync(fd);
  throw refused;
};

/**
 * Returns the first part of an existing path that another user may have made, or undefined. Such a
 * part belongs neither to this user nor to root, and everybody may write to its parent.
 */
export const plantedAt = (path: string): string | undefined => {
  const parent = dirname(path);
  if (self() === undefined || parent === path) return undefined;
  const above = plantedAt(parent);
  if (above !== undefined) return above;
  const found = lstatSync(path);
  const isOpen = (statSync(parent).mode & 0o002) !== 0;
  return isOpen && found.uid !== 0 && !isOfThisUser(found) ? path : undefined;
};
