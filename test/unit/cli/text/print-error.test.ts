// How errors are printed, as text and as JSON, and their exit codes.

import { describe, expect, it } from 'vitest';
import { errorJson, errorLines, exitOf } from '../../../../src/cli/text/print-error.ts';
import type { Paint } from '../../../../src/cli/paint.ts';
import { EtlError } from '../../../../src/core/errors/errors.ts';

const plain: Paint = (_, text) => text;
const marked: Paint = (style, text) => `<${style}>${text}</${style}>`;

const serverError = Object.assign(new Error('duplicate key'), {
  code: '23505',
  detail: 'Key (a)=(1) exists.',
});
const copyError = new EtlError(
  'ETL_PUBLISH_REFUSED',
  { table: 't', sqlstate: '23505', problem: 'duplicate key', hint: 'Look.' },
  { cause: serverError },
);

describe('errorLines', () => {
  it('is one red line and one hint', () =>
    expect(errorLines(copyError, marked, false)).toEqual([
      '<red>error ETL_PUBLISH_REFUSED: table t: the server refused to publish: 23505 duplicate key</red>',
      '  Production tables are unchanged. Look.',
    ]));

  it('keeps examples on lines of their own', () => {
    const error = new EtlError('ETL_REJECT_LIMIT', {
      subject: 'table t',
      rejected: 2,
      records: 9,
      limit: 0,
      examples: '\n  a.csv:3: type',
      run: 4,
    });
    expect(errorLines(error, plain, false)).toEqual([
      'error ETL_REJECT_LIMIT: table t: 2 of 9 records rejected, the limit is 0; nothing was published:',
      '  a.csv:3: type',
      '  Correct the file or the columns, or raise rejectLimit (`--reject-limit` of `etl load`), then run again. `etl rejects list 4 --all` lists every rejected record.',
    ]);
  });

  it('shows control characters of the data instead of obeying them', () => {
    const error = new EtlError('ETL_USAGE', { problem: 'odd \u001b[2J', hint: '' });
    expect(errorLines(error, plain, false)).toEqual(['error ETL_USAGE: odd \\u001b[2J']);
  });

  it('--debug adds trace, cause with SQLSTATE, and what the server said beside it', () => {
    const text = errorLines(copyError, plain, true).join('\n');
    expect(text).toMatch(/\n {4}at /);
    expect(text).toContain('caused by: 23505 duplicate key');
    expect(text).toContain('    detail: Key (a)=(1) exists.');
  });

  it('a circle of causes ends', () => {
    const error = new Error('round');
    error.cause = error;
    expect(errorLines(error, plain, true).length).toBeGreaterThan(2);
  });

  it('anything else that was thrown is unexpected', () =>
    expect(errorLines('boom', plain, false)[0]).toBe('error ETL_INTERNAL: unexpected failure: boom'));
});

it('JSON.stringify writes the message and the hint', () =>
  expect(JSON.parse(JSON.stringify({ error: copyError }))).toEqual({
    error: {
      name: 'EtlError',
      code: 'ETL_PUBLISH_REFUSED',
      message: copyError.message,
      hint: copyError.hint,
      details: copyError.details,
      retry: copyError.retry,
      exit: 1,
    },
  }));

it('errorJson has code, message, hint and details', () =>
  expect(JSON.parse(errorJson(copyError, 1_700_000_000_000, false))).toMatchObject({
    type: 'error',
    time: '2023-11-14T22:13:20.000Z',
    code: 'ETL_PUBLISH_REFUSED',
    hint: 'Production tables are unchanged. Look.',
    details: { table: 't' },
  }));

it.each([
  { name: 'a failed run', error: copyError, exit: 1 },
  { name: 'a usage error', error: new EtlError('ETL_USAGE'), exit: 2 },
  { name: 'too many rejects', error: new EtlError('ETL_REJECT_LIMIT'), exit: 3 },
  { name: 'SIGINT', error: new EtlError('ETL_INTERRUPTED', { signal: 'SIGINT' }), exit: 130 },
  { name: 'SIGTERM', error: new EtlError('ETL_INTERRUPTED', { signal: 'SIGTERM' }), exit: 143 },
])('exitOf $name exits $exit', ({ error, exit }) => expect(exitOf(error)).toBe(exit));
