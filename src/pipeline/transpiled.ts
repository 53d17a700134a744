// The cache directory of transpiled pipeline files.

import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../core/errors/errors.ts';
import { isOwn } from '../core/ownership.ts';

/**
 * Returns a directory that only this user can write to, or false if there is none. In jiti's
 * default directory, which all users share, another user could plant code that runs as a pipeline:
 * jiti finds cached files only by a hash of the source.
 */
export const transpiledDirectory = (): string | false => {
  const directory = join(tmpdir(), `sluice-transpiled-${process.geteuid?.() ?? ''}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return false;
  }
  const found = lstatSync(directory, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && isOwn(found) ? directory : false;
};
