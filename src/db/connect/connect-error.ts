// Converts errors that the driver raises while it opens a connection to our own errors.

import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import { withPermission } from './server-error.ts';
import type { ServerAddress } from './address.ts';
import { authenticationRefused } from './authentication.ts';
import { unfitSession } from './session-kind.ts';
import type { PgClient } from './pg.ts';
import { tlsHint } from './tls.ts';

const networkProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'no answer in time',
  ECONNRESET: 'the connection was closed while opening',
  '57P01': 'the server is shutting down, or an administrator terminated the session',
  '57P02': 'the server has crashed',
  '57P03': 'the server is starting up or shutting down',
};

/** Codes that mean: this server is absent, or accepts no connections now; try the next host. */
export const absenceCodes: readonly string[] = Object.keys(networkProblems);

const noSession =
  'it accepted the connection but started no session in time; a pooler may have no server connection left';

const connectHint =
  'Check host and port in DATABASE_URL (or PGHOST, PGPORT), and that the server is running.';

const hints: Readonly<Record<string, string>> = {
  [unfitSession]:
    'Name every host that may have the wanted role, such as host=a,b, or correct target_session_attrs.',
  [authenticationRefused]:
    'No password was sent. Correct require_auth or channel_binding, or the method in pg_hba.conf of the server.',
};

export const connectError = (thrown: unknown, address: ServerAddress, client: PgClient): EtlError => {
  const { label } = address;
  const cause = withPermission(address, thrown);
  if (cause instanceof EtlError) return cause;
  const code = codeOf(cause) ?? '';
  const details = { server: label, user: client.user, database: client.database };
  if (code === '28P01' || code === '28000')
    return new EtlError(
      'ETL_CONNECT_AUTH',
      { ...details, problem: `${code} ${messageOf(cause)}` },
      { cause },
    );
  if (code === '3D000') return new EtlError('ETL_CONNECT_DATABASE', details, { cause });
  const hint = tlsHint(cause);
  if (hint !== undefined)
    return new EtlError('ETL_CONNECT_TLS', { ...details, problem: messageOf(cause), hint }, { cause });
  const known = code === 'ETIMEDOUT' && client.isLoggedIn ? noSession : networkProblems[code];
  const problem = known === undefined ? messageOf(cause) : `${known} (${code})`;
  return new EtlError('ETL_CONNECT', { ...details, problem, hint: hints[code] ?? connectHint }, { cause });
};
