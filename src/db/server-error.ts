// What the server or the connection to it threw, as one of our errors, by code.

import { EtlError, asEtlError, codeOf, messageOf } from '../errors.ts';
import type { ServerAddress } from './address.ts';

/** Node's codes of a connection that broke, and the driver's own errors for it, which have none. */
const lostCodes = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNREFUSED',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
]);

/** True for a connection that is gone, whoever ended it. Class 08 is "connection exception". */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error) ?? '';
  return lostCodes.has(code) || code.startsWith('08');
};

/** SQLSTATE: five characters, none of Node's codes has that form. */
const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

/** Any thrown thing as an EtlError: ours as it is, the server's by SQLSTATE. */
export const asServerError = ({ label, config }: ServerAddress, thrown: unknown): EtlError => {
  if (thrown instanceof EtlError) return thrown;
  const code = codeOf(thrown) ?? '';
  const problem = messageOf(thrown);
  const options = { cause: thrown };
  if (isConnectionLost(thrown)) return new EtlError('ETL_SERVER_LOST', { server: label, problem }, options);
  if (code === '42501') {
    const user = config.user ?? label.split('@')[0];
    return new EtlError('ETL_PERMISSION', { user, action: 'do what a run needs', problem }, options);
  }
  if (isSqlState(code)) {
    const { detail, hint } = thrown as { detail?: string; hint?: string };
    return new EtlError('ETL_SERVER_REFUSED', { sqlstate: code, problem, hint: detail ?? hint }, options);
  }
  return asEtlError(thrown);
};
