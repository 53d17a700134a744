// Errors on their way between threads: cloned as data, and put together as they were.

import { describe, expect, it } from 'vitest';
import { retryOf } from '../../../../src/db/retry.ts';
import { EtlError } from '../../../../src/core/errors/errors.ts';
import { errorFrom, plainError } from '../../../../src/load/thread/plain-error.ts';

const sent = (error: unknown): Error => errorFrom(structuredClone(plainError(error)));

describe('an error sent to another thread', () => {
  it('of ours keeps class, code, details, stack and cause', () => {
    const cause = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    const error = new EtlError('ETL_SERVER_LOST', { server: 'me@here:1/db', problem: 'gone' }, { cause });
    const other = sent(error);
    expect(other).toBeInstanceOf(EtlError);
    expect(other).toMatchObject({
      code: error.code,
      details: error.details,
      message: error.message,
      hint: error.hint,
    });
    expect(other.stack).toBe(error.stack);
    expect(other.cause).toMatchObject({ code: 'ECONNRESET', message: 'gone' });
    expect(retryOf(other)).toBe('server');
  });

  it('of the server keeps SQLSTATE and the driver’s other fields', () => {
    const error = Object.assign(new Error('bad'), {
      code: '53100',
      where: 'COPY t, line 1',
      length: 3,
      file: undefined,
    });
    expect(sent(error)).toMatchObject({ code: '53100', where: 'COPY t, line 1', length: 3, message: 'bad' });
  });

  it('arrives as an Error if it was none', () => expect(sent('thrown text').message).toBe('thrown text'));
});
