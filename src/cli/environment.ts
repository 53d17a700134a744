// Reads the file `.env` of the working directory into the environment.

import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf, EtlError, messageOf } from '../core/errors/errors.ts';
import { plantedAt } from '../core/ownership.ts';

const usage = (problem: string, hint: string, cause?: unknown): EtlError =>
  new EtlError('ETL_USAGE', { problem, hint }, { cause });

/** Reads a file of this user. Opens it before the check, so it cannot be replaced in between. */
const read = (file: string): string => {
  const fd = openSync(file, 'r');
  try {
    const planted = plantedAt(file);
    if (planted === undefined) return readFileSync(fd, 'utf8');
    const problem = `${planted} belongs to another user, whose .env would choose the server`;
    throw usage(problem, 'Work in a directory of your own, or move the file away.');
  } finally {
    closeSync(fd);
  }
};

const readIfPresent = (file: string): string => {
  try {
    return read(file);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return '';
    if (cause instanceof EtlError) throw cause;
    throw usage(`cannot read ${file}: ${messageOf(cause)}`, 'Make it readable, or move it away.', cause);
  }
};

/**
 * Adds the variables of `.env` that are not set yet.
 *
 * Errors: ETL_USAGE if the file cannot be read or may belong to another user.
 */
export const addDotEnv = (env: NodeJS.ProcessEnv, workingDirectory: string): void => {
  for (const [name, value] of Object.entries(parseEnv(readIfPresent(join(workingDirectory, '.env')))))
    env[name] ??= value;
};
