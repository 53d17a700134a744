// SIGINT and SIGTERM: which signals the work gets, and which error is reported.

import { describe, expect, it } from 'vitest';
import { withInterrupt } from '../../../src/cli/interrupt.ts';
import { EtlError } from '../../../src/core/errors/errors.ts';

const abortedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('connection closed'))));

describe('withInterrupt', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s aborts the work and is named in the error', async (name) => {
    const said: string[] = [];
    const work = withInterrupt(
      (signal) => said.push(signal),
      ({ drain }) => abortedBy(drain),
    );
    process.emit(name, name);
    await expect(work).rejects.toMatchObject({
      code: 'ETL_INTERRUPTED',
      details: { signal: name },
      cause: { message: 'connection closed' },
    });
    expect(said).toEqual([name]);
  });

  it('the second signal asks to stop at once', async () => {
    const said: boolean[] = [];
    const work = withInterrupt(
      (_, isSecond) => said.push(isSecond),
      ({ abort }) => abortedBy(abort),
    );
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGTERM', 'SIGTERM');
    await expect(work).rejects.toMatchObject({ code: 'ETL_INTERRUPTED', details: { signal: 'SIGTERM' } });
    expect(said).toEqual([false, true]);
  });

  it('an error that already names the signal is not wrapped', async () => {
    const own = new EtlError('ETL_INTERRUPTED', { signal: 'SIGINT' });
    const work = withInterrupt(
      () => undefined,
      ({ drain }) =>
        abortedBy(drain).catch(() => {
          throw own;
        }),
    );
    process.emit('SIGINT', 'SIGINT');
    await expect(work).rejects.toBe(own);
  });

  it('work that ends before it can be stopped succeeds', async () => {
    const work = withInterrupt(
      () => undefined,
      async ({ drain }) => abortedBy(drain).catch(() => 'published'),
    );
    process.emit('SIGINT', 'SIGINT');
    expect(await work).toBe('published');
  });

  it('an error without a signal is not changed', async () => {
    const own = new Error('own');
    await expect(
      withInterrupt(
        () => undefined,
        () => Promise.reject(own),
      ),
    ).rejects.toBe(own);
  });

  it('leaves no listener', async () => {
    const before = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    await withInterrupt(
      () => undefined,
      async () => undefined,
    );
    expect(process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')).toBe(before);
  });
});
