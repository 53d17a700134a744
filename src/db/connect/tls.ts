// Implements libpq's sslmode and certificates. node-postgres itself would read `prefer`, `require`
// and `verify-ca` as `verify-full`, and never continue unencrypted.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions, SecureVersion } from 'node:tls';
import type pg from 'pg';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import type { ServerConfig } from './config.ts';
import { usage as usageOf, type Parameters } from './parameters.ts';

const usage = (problem: string) => usageOf(problem, 'docs/operations/server.md explains each sslmode.');

const readPem = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the certificate file ${file} cannot be read: ${messageOf(cause)}`);
  }
};

const personalFile = (name: string): string | undefined => {
  const file = join(homedir(), '.postgresql', name);
  return existsSync(file) ? file : undefined;
};

const certificateOf = ({ sslcert, sslkey, sslpassword, sslcertmode }: Parameters): ConnectionOptions => {
  const cert = sslcert || personalFile('postgresql.crt');
  if (cert === undefined || sslcertmode === 'disable') return {};
  const key = sslkey || personalFile('postgresql.key');
  return {
    cert: readPem(cert),
    ...(key !== undefined && { key: readPem(key) }),
    ...(sslpassword && { passphrase: sslpassword }),
  };
};

const trustOf = (mode: string, { sslrootcert, sslcrl }: Parameters): ConnectionOptions => {
  if (mode === 'allow' || mode === 'prefer' || mode === 'no-verify') return { rejectUnauthorized: false };
  const file = sslrootcert || personalFile('root.crt');
  if (mode === 'require' && file === undefined) return { rejectUnauthorized: false };
  const ca = file === undefined || file === 'system' ? {} : { ca: readPem(file) };
  const revoked = sslcrl || personalFile('root.crl');
  const trusted = { ...ca, ...(revoked !== undefined && { crl: readPem(revoked) }) };
  if (mode === 'verify-full') return trusted;
  // Anybody can get a certificate from a public authority: if the host's name is not checked, it
  // proves nothing.
  if (!('ca' in ca)) throw usage(`sslmode=${mode} needs sslrootcert, the certificate of your own authority`);
  return { ...trusted, checkServerIdentity: () => undefined };
};

const versionsOf = (parameters: Parameters): ConnectionOptions => {
  const { ssl_min_protocol_version: min, ssl_max_protocol_version: max } = parameters;
  return {
    ...(min && { minVersion: min as SecureVersion }),
    ...(max && { maxVersion: max as SecureVersion }),
  };
};

/** Without sslmode, as in node-postgres: sslrootcert means `verify-full`; otherwise no TLS. */
const sslModeOf = ({ sslmode, requiressl, sslrootcert }: Parameters): string => {
  if (sslmode) return sslmode;
  if (requiressl) return requiressl === '1' ? 'require' : 'prefer';
  return sslrootcert ? 'verify-full' : 'disable';
};

interface TlsChoice {
  readonly ssl: boolean | object;
  /** True if the connection continues unencrypted when the server has no TLS. */
  readonly isOptional: boolean;
}

/** Chooses the TLS options; setting `ssl` overrules the parameters. Errors: ETL_USAGE. */
export const tlsOf = ({ ssl, parameters }: ServerConfig): TlsChoice => {
  const mode = sslModeOf(parameters);
  const isOptional = ssl === undefined && (mode === 'prefer' || mode === 'allow');
  const isDirect = parameters.sslnegotiation === 'direct';
  if (isDirect && (isOptional || ssl === false || (ssl === undefined && mode === 'disable')))
    throw usage('sslnegotiation=direct needs sslmode=require, verify-ca or verify-full');
  if (ssl !== undefined) return { ssl, isOptional };
  if (mode === 'disable') return { ssl: false, isOptional };
  return {
    ssl: { ...certificateOf(parameters), ...trustOf(mode, parameters), ...versionsOf(parameters) },
    isOptional,
  };
};

/** Our own code, because node-postgres reports this case only by message. */
const noTlsCode = 'SERVER_WITHOUT_TLS';

/**
 * Reads the server's one-byte answer to SSLRequest before node-postgres does. If it is 'N' (no
 * TLS), the connection continues without TLS if `isOptional`, and fails otherwise.
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
      // On this event, node-postgres sends its startup message.
      connection.emit('sslconnect');
    } else {
      stream.end();
      connection.emit('error', Object.assign(new Error('the server has no TLS'), { code: noTlsCode }));
    }
  });
};

const trustHint =
  'Set the certificate of its authority with sslrootcert=<file> or PGSSLROOTCERT; sslmode=require encrypts without checking who it is.';

/** Advice by Node's error code; most codes are OpenSSL's verdicts on a certificate. */
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
  CERT_REVOKED: 'The authority has revoked the certificate of the server, as sslcrl says: renew it.',
  UNABLE_TO_GET_CRL: 'sslcrl must have a list of every authority of the certificate.',
  CERT_NOT_YET_VALID: 'Check the clocks of both machines.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Connect by a name in the certificate; sslmode=verify-ca checks only the authority.',
};

export const tlsHint = (error: unknown): string | undefined => {
  const code = codeOf(error) ?? '';
  if (/^(?:ERR_(?:SSL|OSSL|TLS)_|EPROTO$|CERT_)/.test(code))
    return hints[code] ?? 'Check sslmode and the certificates of both sides.';
  return hints[code];
};
