// The server's errors become our errors, by SQLSTATE.

import { expect, it } from 'vitest';
import { asServerError } from '../../../../src/db/connect/server-error.ts';

const address = { label: 'etl@db/shop', config: { user: 'etl' } };

it.each([
  { sqlstate: '42501', code: 'ETL_PERMISSION' },
  { sqlstate: '53100', code: 'ETL_DISK_FULL' },
  { sqlstate: '53200', code: 'ETL_SERVER_MEMORY' },
  { sqlstate: '57P01', code: 'ETL_SERVER_LOST' },
  { sqlstate: '22P02', code: 'ETL_SERVER_REFUSED' },
])('$sqlstate is $code', ({ sqlstate, code }) => {
  const thrown = Object.assign(new Error('out of shared memory'), { code: sqlstate });
  const error = asServerError(address as Parameters<typeof asServerError>[0], thrown);
  expect(error).toMatchObject({ code, cause: thrown });
  expect(error.message).toContain('out of shared memory');
});
