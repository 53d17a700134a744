// An error's code decides whether to retry, never its message.

import { describe, expect, it } from 'vitest';
import { retryOf } from '../../../src/db/retry.ts';
import { EtlError } from '../../../src/core/errors/errors.ts';

const coded = (code: string): Error => Object.assign(new Error('whatever it says'), { code });

describe('retryOf', () => {
  it.each([
    ['57P01', 'server'],
    ['57P02', 'server'],
    ['57P03', 'server'],
    ['25P03', 'server'],
    ['25P04', 'server'],
    ['53300', 'server'],
    ['08006', 'server'],
    ['ECONNRESET', 'server'],
    ['ECONNREFUSED', 'server'],
    ['40001', 'chunk'],
    ['40P01', 'chunk'],
    ['55P03', 'chunk'],
    ['53100', 'never'],
    ['57014', 'never'],
    ['23505', 'never'],
    ['22P02', 'never'],
  ])('%s: %s', (code, expected) => expect(retryOf(coded(code))).toBe(expected));

  it.each(['terminating connection', 'ECONNRESET', 'Connection terminated unexpectedly'])(
    'a message alone decides nothing: %s',
    (message) => expect(retryOf(new Error(message))).toBe('never'),
  );

  it('our own codes: a lost server is waited for, a wrong password is not', () => {
    expect(retryOf(new EtlError('ETL_SERVER_LOST'))).toBe('server');
    expect(retryOf(new EtlError('ETL_EPOCH_CHANGED'))).toBe('server');
    expect(retryOf(new EtlError('ETL_CONNECT_AUTH'))).toBe('never');
    expect(retryOf(new EtlError('ETL_CONNECT', {}, { cause: coded('ECONNREFUSED') }))).toBe('server');
    expect(retryOf(new EtlError('ETL_CONNECT', {}, { cause: coded('DEPTH_ZERO_SELF_SIGNED_CERT') }))).toBe(
      'never',
    );
  });
});
