// Where transpiled pipelines are kept.

import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../core/errors/errors.ts';
import { isOwn } from '../core/ownership.ts';

/**
 * A directory that only this user can have filled, or false. In jiti's default, one directory for all users, another
 * user could have put code that would run as a pipeline: jiti compares only a hash of the source.
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
