// TLS as libpq means it: sslmode and the certificates beside it, from a URL or the environment. PostgreSQL, "SSL Support".
//
// node-postgres treats `prefer`, `require` and `verify-ca` as `verify-full` and warns of that at every start, treats unknown words as
// `disable`, and never falls back to no TLS.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { EtlError, codeOf, messageOf } from '../../errors.ts';
import { nearest } from '../../nearest.ts';

/** `no-verify` is node-postgres' own word for what libpq's `require` does without a root certificate. */
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type Mode = (typeof modes)[number];

/** Settings of a URL that are read here and must not reach node-postgres; the last one switches between its two readings. */
const parameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'] as const;

/** File of a setting, from the URL or its variable; undefined when neither names one. */
type FileOf = (name: string) => string | undefined;

const usage = (problem: string): EtlError =>
  new EtlError('ETL_USAGE', { problem, hint: 'docs/operations/server.md explains each sslmode.' });

const modeOf = (text: string, where: string): Mode => {
  const mode = modes.find((known) => known === text);
  if (mode !== undefined) return mode;
  const near = nearest(text, modes);
  const known = near === undefined ? `known: ${modes.join(', ')}` : `did you mean ${near}?`;
  throw usage(`${where}: there is no mode '${text}'; ${known}`);
};

const readPem = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the certificate file ${file} cannot be read: ${messageOf(cause)}`);
  }
};

/** Files that libpq looks for by itself. */
const personalFile = (name: string): string | undefined => {
  const file = join(homedir(), '.postgresql', name);
  return existsSync(file) ? file : undefined;
};

const certificateOf = (fileOf: FileOf): ConnectionOptions => {
  const cert = fileOf('sslcert') ?? personalFile('postgresql.crt');
  if (cert === undefined) return {};
  const key = fileOf('sslkey') ?? personalFile('postgresql.key');
  return { cert: readPem(cert), ...(key !== undefined && { key: readPem(key) }) };
};

/** Options of node:tls; false is no TLS. */
const optionsOf = (mode: Mode, fileOf: FileOf): ConnectionOptions | false => {
  if (mode === 'disable') return false;
  const own = certificateOf(fileOf);
  if (mode === 'allow' || mode === 'prefer' || mode === 'no-verify')
    return { ...own, rejectUnauthorized: false };
  const file = fileOf('sslrootcert') ?? personalFile('root.crt');
  const ca = file === undefined || file === 'system' ? {} : { ca: readPem(file) };
  if (mode === 'verify-full') return { ...own, ...ca };
  if (mode === 'require' && file === undefined) return { ...own, rejectUnauthorized: false };
  // Anybody can get a certificate of a public authority, so it proves nothing without the name.
  if (!('ca' in ca)) throw usage(`sslmode=${mode} needs sslrootcert, the certificate of your own authority`);
  return { ...own, ...ca, checkServerIdentity: () => undefined };
};

/** The TLS settings of a URL, and the URL without them. */
const takeFromUrl = (url: string): { readonly rest: string; readonly given: URLSearchParams } => {
  const [base = '', ...query] = url.split('?');
  const rest = new URLSearchParams(query.join('?'));
  const given = new URLSearchParams();
  for (const name of parameters) {
    const value = rest.get(name);
    if (value !== null) given.set(name, value);
    rest.delete(name);
  }
  return { rest: rest.size === 0 ? base : `${base}?${rest.toString()}`, given };
};

export interface TlsChoice {
  /** For node-postgres, without the settings that it reads differently. */
  readonly config: pg.ClientConfig;
  /** Continues without TLS if the server has none. */
  readonly isOptional: boolean;
}

/**
 * Decides TLS: by the URL, else the settings' `ssl`, else PGSSLMODE, else none. Errors: ETL_USAGE (an unknown mode, a file that
 * cannot be read, verify-ca without an authority).
 */
export const settleTls = (config: pg.ClientConfig, env: NodeJS.ProcessEnv): TlsChoice => {
  const { rest, given } = takeFromUrl(config.connectionString ?? '');
  const fromEnv = config.ssl === undefined ? env['PGSSLMODE'] || undefined : undefined;
  // Certificates alone, without a mode: node-postgres then verifies in full.
  const text = given.get('sslmode') ?? fromEnv ?? (given.has('sslrootcert') ? 'verify-full' : undefined);
  if (text === undefined) return { config, isOptional: false };
  const mode = modeOf(text, given.has('sslmode') ? 'sslmode' : 'PGSSLMODE');
  const fileOf: FileOf = (name) => given.get(name) ?? (env[`PG${name.toUpperCase()}`] || undefined);
  const ssl = optionsOf(mode, fileOf);
  const url = config.connectionString === undefined ? {} : { connectionString: rest };
  return { config: { ...config, ...url, ssl }, isOptional: mode === 'prefer' || mode === 'allow' };
};

/** Code of a server that has no TLS: node-postgres reports it only in a message. */
const noTlsCode = 'SERVER_WITHOUT_TLS';

/**
 * Reads the server's answer to SSLRequest, a single byte, before node-postgres does. After 'N' (no TLS) a connection that may be
 * unencrypted continues, and any other ends with a code.
 */
export const answerMissingTls = (connection: pg.Connection, isOptional: boolean): void => {
  const { stream } = connection;
  const waiting = stream.listeners('data') as ((bytes: Buffer) => void)[];
  stream.removeAllListeners('data');
  stream.once('data', (answer: Buffer) => {
    if (answer.toString('latin1') !== 'N') {
      for (const listener of waiting) listener.call(stream, answer);
    } else if (isOptional) {
      const plain = connection as unknown as { attachListeners(from: typeof stream): void };
      plain.attachListeners(stream);
      // On this event node-postgres sends its startup message.
      connection.emit('sslconnect');
    } else {
      stream.end();
      connection.emit('error', Object.assign(new Error('the server has no TLS'), { code: noTlsCode }));
    }
  });
};

const trustHint =
  'Set the certificate of its authority with sslrootcert=<file> or PGSSLROOTCERT; sslmode=require encrypts without checking who it is.';

/** Hints by Node's code: openssl's verdicts on a certificate, under the names that Node gives them. */
const hints: Readonly<Record<string, string>> = {
  [noTlsCode]: 'Turn on ssl at the server, or use sslmode=prefer, which continues without it.',
  DEPTH_ZERO_SELF_SIGNED_CERT: trustHint,
  SELF_SIGNED_CERT_IN_CHAIN: trustHint,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trustHint,
  UNABLE_TO_GET_ISSUER_CERT: trustHint,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trustHint,
  CERT_UNTRUSTED: trustHint,
  CERT_SIGNATURE_FAILURE: trustHint,
  INVALID_CA: trustHint,
  CERT_HAS_EXPIRED: 'Renew the certificate, and check the clocks of both machines.',
  CERT_NOT_YET_VALID: 'Check the clocks of both machines.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Connect by a name in the certificate; sslmode=verify-ca checks only the authority.',
};

/** The hint for an error of TLS; undefined for other errors. */
export const tlsHint = (error: unknown): string | undefined => {
  const code = codeOf(error) ?? '';
  if (/^(?:ERR_(?:SSL|OSSL|TLS)_|EPROTO$|CERT_)/.test(code))
    return hints[code] ?? 'Check sslmode and the certificates of both sides.';
  return hints[code];
};
