// PGSERVICE: named connections in pg_service.conf, which node-postgres does not read. PostgreSQL, "The Connection
// Service File".

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EtlError } from '../../errors.ts';

/** Settings of one section: `name=value` lines up to the next `[section]`. */
const sectionOf = (text: string, service: string): Readonly<Record<string, string>> | undefined => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const start = lines.indexOf(`[${service}]`);
  if (start === -1) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('['));
  const settings = rest
    .slice(0, end === -1 ? rest.length : end)
    .filter((line) => line.includes('=') && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]);
  return Object.fromEntries(settings);
};

const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/**
 * The connection string of a service, from PGSERVICEFILE or ~/.pg_service.conf, then PGSYSCONFDIR/pg_service.conf.
 * Errors: ETL_ENVIRONMENT when no file has the service.
 */
export const serviceUrl = (service: string, env: NodeJS.ProcessEnv): string => {
  const personal = env['PGSERVICEFILE'] ?? join(homedir(), '.pg_service.conf');
  const shared = env['PGSYSCONFDIR'] === undefined ? [] : [join(env['PGSYSCONFDIR'], 'pg_service.conf')];
  for (const file of [personal, ...shared]) {
    const settings = sectionOf(readIfThere(file), service);
    if (settings === undefined) continue;
    const { dbname, ...others } = settings;
    const query = new URLSearchParams(others);
    return `postgres:///${encodeURIComponent(dbname ?? env['PGDATABASE'] ?? '')}?${query.toString()}`;
  }
  const problem = `no service "${service}" in ${[personal, ...shared].join(' or ')}`;
  throw new EtlError('ETL_ENVIRONMENT', { variable: 'PGSERVICE', problem });
};
