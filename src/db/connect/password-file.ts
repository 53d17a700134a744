// Reads libpq's password file. As in libpq, the first matching line counts; node-postgres would
// take the last one.

import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Host, ServerConfig } from './config.ts';

const defaultFile = (): string =>
  process.platform === 'win32'
    ? join(process.env['APPDATA'] ?? homedir(), 'postgresql', 'pgpass.conf')
    : join(homedir(), '.pgpass');

const fieldsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:^|:)((?:\\.|[^:\\]|\\$)*)/g)].map(([, field = '']) => field);

const unescape = (field: string): string => field.replaceAll(/\\(.)/g, '$1');

export const passwordIn = (text: string, wanted: readonly string[]): string | undefined => {
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const isMatch = wanted.every(
      (value, index) => fields[index] === '*' || unescape(fields[index] ?? '') === value,
    );
    // Colons in the password need not be escaped.
    if (isMatch && fields.length > wanted.length) return unescape(fields.slice(wanted.length).join(':'));
  }
  return undefined;
};

const faultOf = async (file: string): Promise<string | undefined> => {
  const { mode } = await stat(file);
  const mayOthersRead = process.platform !== 'win32' && (mode & 0o077) !== 0;
  return mayOthersRead ? `; ${file} is ignored, because others may read it: chmod 600` : undefined;
};

/** libpq's default directories of Unix sockets; the password file calls such hosts `localhost`. */
const socketDirectories = new Set(['/tmp', '/var/run/postgresql']);

/** Finds a password when the server requires one and none was given. Errors: code 28P01. */
export const passwordFromFile = async (
  { host, port }: Host,
  { user, database, parameters }: ServerConfig,
): Promise<string> => {
  const file = parameters.passfile || defaultFile();
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const fault = text === undefined ? undefined : await faultOf(file);
  const name = socketDirectories.has(host) ? 'localhost' : host;
  const wanted = [name, String(port), database, user];
  const password = fault === undefined ? passwordIn(text ?? '', wanted) : undefined;
  if (password !== undefined) return password;
  // Uses the server's code for a wrong password. Returning no password would fail inside SCRAM.
  throw Object.assign(new Error(`it requires a password, and none was given${fault ?? ''}`), {
    code: '28P01',
  });
};
