// Combines URL, service file, environment and defaults into plain data that threads can receive.

import { isIP } from 'node:net';
import { userInfo, homedir } from 'node:os';
import { connectTimeoutMs } from '../../core/limits.ts';
import type { ConnectionOptions } from './connection.ts';
import { parametersOfEnv, usage, type Parameters, checkParameters } from './parameters.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../core/errors/errors.ts';

/** Directory of the system's service file on Debian. On other systems, set PGSYSCONFDIR. */
const systemDirectory = '/etc/postgresql-common';

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the service file ${file} cannot be read: ${messageOf(cause)}`);
  }
};

/** Reads a service's section. As in libpq, the first of two equal settings counts. */
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

const readService = (service: string, env: NodeJS.ProcessEnv): Parameters => {
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

export interface Host {
  readonly host: string;
  readonly hostaddr?: string;
  readonly port: number;
}

export type DriverSettings = Pick<ConnectionOptions, 'password' | 'ssl'> & {
  readonly connectionTimeoutMillis?: number;
  readonly keepAlive?: boolean;
  readonly keepAliveInitialDelayMillis?: number;
  readonly scramMaxIterations?: number;
};

export interface ServerConfig extends DriverSettings {
  readonly hosts: readonly Host[];
  readonly target: string;
  readonly user: string;
  readonly database: string;
  readonly parameters: Parameters;
  /** Set once a pooler before the server was seen to keep a session for each client. */
  keepsSessions?: true;
}

const defaultPort = 5432;

const listOf = (text: string | undefined): readonly string[] | undefined =>
  text ? text.split(',') : undefined;

const hostaddrOf = (text: string): string => {
  if (isIP(text) !== 0) return text;
  throw usage('hostaddr must be an IP address, or one for each host, separated by commas');
};

/** Splits lists of hosts. The lists must have equal lengths; a single port is for all hosts. */
const hostsOf = ({ host, hostaddr, port }: Parameters): readonly Host[] => {
  const addresses = listOf(hostaddr);
  const names = listOf(host);
  const count = (addresses ?? names ?? ['']).length;
  const ports = listOf(port) ?? [''];
  if (names !== undefined && names.length !== count)
    throw usage(`there are ${names.length} hosts, but ${count} addresses in hostaddr`);
  if (ports.length !== 1 && ports.length !== count)
    throw usage(`there are ${ports.length} ports for ${count === 1 ? 'one host' : `${count} hosts`}`);
  return Array.from({ length: count }, (_, index) => {
    const address = addresses?.[index] ? hostaddrOf(addresses[index]) : undefined;
    return {
      // libpq would try a Unix socket, in a directory fixed when it was compiled.
      host: names?.[index] || address || 'localhost',
      ...(address !== undefined && { hostaddr: address }),
      port: Number(ports[ports.length === 1 ? 0 : index] || defaultPort),
    };
  });
};

/** Name of the process's user. In containers, a user id may have no name. */
const systemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    throw usage('no user is named, and the operating system has no name for the user of this process');
  }
};

const withDefaults = (given: Parameters, env: NodeJS.ProcessEnv): Parameters => {
  const service = given.service || env['PGSERVICE'];
  return { ...parametersOfEnv(env), ...(service && readService(service, env)), ...given };
};

/** Zero or less means: wait for ever. Unlike in libpq, this is not the default. */
const timeoutMsOf = (seconds: string | undefined): number =>
  seconds ? Math.max(0, Number(seconds)) * 1000 : connectTimeoutMs;

export const configOf = (
  given: Parameters,
  env: NodeJS.ProcessEnv,
  settings: DriverSettings = {},
): ServerConfig => {
  const { user, dbname, target_session_attrs: target, ...parameters } = withDefaults(given, env);
  const name = user || systemUser();
  return {
    connectionTimeoutMillis: timeoutMsOf(parameters.connect_timeout),
    ...settings,
    hosts: hostsOf(parameters),
    target: target || 'any',
    user: name,
    database: dbname || name,
    parameters,
  };
};

export const labelOf = ({ user, hosts, database }: ServerConfig): string =>
  `${user}@${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/${database}`;
