// Converts errors of the server and of connections to our own errors, by code.

import { EtlError, asEtlError, codeOf, isSqlState, messageOf } from '../../core/errors/errors.ts';
import type { ServerAddress } from './address.ts';
import { retryOf } from '../retry.ts';

/** True if the server refused a statement; false if it was lost or lacked resources (class 53). */
export const isRefusal = (thrown: unknown): boolean => {
  const code = codeOf(thrown) ?? '';
  return (
    !(thrown instanceof EtlError) && isSqlState(code) && retryOf(thrown) === 'never' && !code.startsWith('53')
  );
};

/** Advice for an unknown function or operator (42883), type (42704) or table (42P01). */
export const unknownNameHint = (thrown: unknown): string =>
  ['42883', '42704', '42P01'].includes(codeOf(thrown) ?? '')
    ? 'If it is in another schema, write the schema before its name, or add the schema to searchPath of the pipeline.'
    : '';

/**
 * Returns the server's hint and call context: for an exception in a trigger, only the context names
 * trigger and table.
 */
export const hintOf = (thrown: unknown): string => {
  const { detail, hint, where } = thrown as { detail?: string; hint?: string; where?: string };
  const advice = detail ?? (unknownNameHint(thrown) || hint);
  const lines = where?.split('\n') ?? [];
  const context = lines.length > 2 ? [lines[0], '…', lines.at(-1)] : lines;
  return [advice, context.length > 0 && `Context from the server: ${context.join('; ')}.`]
    .filter(Boolean)
    .join(' ');
};

/** Converts a missing privilege to ETL_PERMISSION; returns other errors unchanged. */
export const withPermission = ({ config }: ServerAddress, thrown: unknown): unknown => {
  if (thrown instanceof EtlError || codeOf(thrown) !== '42501') return thrown;
  const details = { user: config.user, problem: messageOf(thrown), cure: '' };
  return new EtlError('ETL_PERMISSION', { ...details, action: 'do what this needs' }, { cause: thrown });
};

const timeoutHint =
  'If statement_timeout of the role is too short for its tables, raise it: `alter role … set statement_timeout = …`.';

export const asServerError = (address: ServerAddress, cause: unknown): EtlError => {
  const thrown = withPermission(address, cause);
  if (thrown instanceof EtlError) return thrown;
  const { label } = address;
  const code = codeOf(thrown) ?? '';
  const problem = messageOf(thrown);
  const options = { cause: thrown };
  if (retryOf(thrown) === 'server')
    return new EtlError('ETL_SERVER_LOST', { server: label, problem }, options);
  if (code === '53100') return new EtlError('ETL_DISK_FULL', { server: label, problem }, options);
  if (code === '53200') return new EtlError('ETL_SERVER_MEMORY', { server: label, problem }, options);
  if (isSqlState(code)) {
    const hint = code === '57014' ? timeoutHint : hintOf(thrown);
    return new EtlError('ETL_SERVER_REFUSED', { sqlstate: code, problem, hint }, options);
  }
  return asEtlError(thrown);
};
