// Reads `.env` of the working directory into the environment, adding only what is absent.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf, EtlError, messageOf } from '../errors.ts';

const readIfPresent = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return '';
    const hint = 'Make it readable, or move it away.';
    throw new EtlError('ETL_USAGE', { problem: `cannot read ${file}: ${messageOf(cause)}`, hint }, { cause });
  }
};

/** What is set already wins: a `.env` is a set of defaults. Errors: ETL_USAGE (it exists and cannot be read). */
export const addDotEnv = (env: NodeJS.ProcessEnv, workingDirectory: string): void => {
  for (const [name, value] of Object.entries(parseEnv(readIfPresent(join(workingDirectory, '.env')))))
    env[name] ??= value;
};
