// Named connections in pg_service.conf. PostgreSQL, "The Connection Service File".

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../core/errors/errors.ts';
import { checkParameters, usage, type Parameters } from './parameters.ts';

/** Directory of Debian's packages. Other systems need PGSYSCONFDIR: libpq's path is compiled in. */
const systemDirectory = '/etc/postgresql-common';

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the service file ${file} cannot be read: ${messageOf(cause)}`);
  }
};

/**
 * Reads a section; undefined if it does not exist. As in libpq, the first of two equal settings
 * counts.
 */
const sectionOf = (file: string, service: string): Parameters | undefined => {
  const lines = readText(file)
    .split(/\r?\n/)
    .map((line) => line.trim());
  const start = lines.indexOf(`[${service}]`);
  if (start === -1) return undefined;
  const found: Record<string, string> = {};
  const where = `service ${service} in ${file}`;
  for (const [index, line] of lines.entries()) {
    if (index <= start || line === '' || line.startsWith('#')) continue;
    if (line.startsWith('[')) break;
    const [, name, value] = /^(\w+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw usage(`${where}: line ${index + 1} is not of the form name=value`);
    if (name === 'service') throw usage(`${where}: a service cannot name another one`);
    found[name] ??= value;
  }
  return checkParameters(found, where);
};

/**
 * Searches PGSERVICEFILE or ~/.pg_service.conf, then pg_service.conf of the system. Errors:
 * ETL_USAGE.
 */
export const readService = (service: string, env: NodeJS.ProcessEnv): Parameters => {
  const own = env['PGSERVICEFILE'] || join(homedir(), '.pg_service.conf');
  const shared = join(env['PGSYSCONFDIR'] || systemDirectory, 'pg_service.conf');
  const files = [own, shared].filter((file) => file === env['PGSERVICEFILE'] || existsSync(file));
  for (const file of files) {
    const settings = sectionOf(file, service);
    if (settings !== undefined) return settings;
  }
  throw usage(
    `there is no service "${service}" in ${own} or ${shared}`,
    'Define it there, or name another file with PGSERVICEFILE.',
  );
};
