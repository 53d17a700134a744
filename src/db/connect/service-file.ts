// Named connections in pg_service.conf. PostgreSQL, "The Connection Service File".

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../core/errors/errors.ts';
import { checkParameters, usage, type Parameters } from './parameters.ts';

/** Where Debian's packages have it; libpq has the directory compiled in. */
const systemDirectory = '/etc/postgresql-common';

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the service file ${file} cannot be read: ${messageOf(cause)}`);
  }
};

/** The settings of one section; undefined: the file has no such section. The first of several settings counts, as in libpq. */
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
 * The settings of a service, from PGSERVICEFILE or ~/.pg_service.conf, then pg_service.conf of PGSYSCONFDIR or of the system.
 * Errors: ETL_USAGE.
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
