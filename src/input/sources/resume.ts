// Reads a file over a network that may fail: continues after the last byte, a bounded number of
// times.

import { createHash, type Hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inLargeBlocks } from '../../core/large-blocks.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { fingerprintSampleBytes } from '../../core/limits.ts';
import type { NamedFile } from './contract.ts';

/** A failure after which another attempt may help: a cut connection, an overloaded server. */
export class Passing extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(problem: string, options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {}) {
    super(problem, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

export const otherBytes = (from: number): Passing =>
  new Passing(`the server answers with other bytes than those from ${from} on`);

export interface Patience {
  readonly tries: number;
  readonly ms: number;
}

/** Half of each pause between tries is random, so that readers do not return together. */
const pauseFirstMs = 250;
const pauseMsMax = 10_000;

interface Tries {
  /**
   * Waits until the next try. Throws `cause` unless it is Passing, the signal's reason once it is
   * aborted, and ETL_SOURCE_UNREACHABLE after the last try.
   */
  readonly again: (cause: unknown) => Promise<void>;
  readonly reset: () => void;
}

const createTries = (
  { table, name }: NamedFile,
  { tries, ms }: Patience,
  signal: AbortSignal | undefined,
): Tries => {
  let failed = 0;
  let since = 0;
  return {
    reset: () => void (failed = 0),
    again: async (cause) => {
      signal?.throwIfAborted();
      if (!(cause instanceof Passing)) throw cause;
      if (failed === 0) since = performance.now();
      failed += 1;
      const step = Math.min(pauseMsMax, pauseFirstMs * 2 ** (failed - 1));
      const pause = Math.max(cause.retryAfterMs ?? 0, step * (0.5 + Math.random() / 2));
      if (failed >= tries || performance.now() - since + pause > ms) {
        const details = { table, file: name, problem: messageOf(cause), tries: failed };
        throw new EtlError('ETL_SOURCE_UNREACHABLE', details, { cause });
      }
      await sleep(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
    },
  };
};

/** Calls `work` until it succeeds. After `progress` the number of tries counts from 0 again. */
export const withTries = async <T>(
  file: NamedFile,
  patience: Patience,
  signal: AbortSignal | undefined,
  work: (progress: () => void) => Promise<T>,
): Promise<T> => {
  const tries = createTries(file, patience, signal);
  for (;;) {
    try {
      return await work(tries.reset);
    } catch (cause) {
      await tries.again(cause);
    }
  }
};

export interface RangeAnswer {
  /** Offset of the first byte, not after the requested offset: 0 from a server without ranges. */
  readonly from: number;
  readonly total: number | undefined;
  readonly body: AsyncIterable<Buffer> | Iterable<Buffer>;
}

export interface HeadAnswer<Version> extends RangeAnswer {
  readonly version: Version;
}

/**
 * Reads a file's version and first bytes, with as many requests as needed. `ask` requests the bytes
 * from `from` on, up to the end of the sample, if the file still has the version `begun`. An answer
 * from byte 0 begins again, with its own version.
 */
export const readHead = <Version>(
  file: NamedFile,
  patience: Patience,
  signal: AbortSignal | undefined,
  ask: (from: number, begun: Version | undefined) => Promise<HeadAnswer<Version>>,
): Promise<{ readonly version: Version; readonly head: Buffer }> => {
  let begun: Version | undefined;
  let head = Buffer.alloc(0);
  let most = 0;
  return withTries(file, patience, signal, async (progress) => {
    const { from, total = 0, version, body } = await ask(head.length, begun);
    if (from === 0) [begun, head] = [version, Buffer.alloc(0)];
    for await (const bytes of body) {
      head = Buffer.concat([head, bytes]);
      if (head.length > most) progress();
      most = Math.max(most, head.length);
      // A short body is read to its end, so that its connection can be used again.
      if (head.length > fingerprintSampleBytes) break;
    }
    const expected = Math.min(total, fingerprintSampleBytes);
    if (head.length < expected)
      throw new Passing(`the connection ended after ${head.length} of ${expected} bytes`);
    return { version: begun!, head: head.subarray(0, fingerprintSampleBytes) };
  });
};

interface ResumedRead {
  readonly file: NamedFile;
  readonly start: number;
  readonly end: number;
  /**
   * Requests the bytes from `from` on. Throws Passing, also while the body is read, if another
   * attempt may help, and ETL_SOURCE_CHANGED if the server has another version of the file.
   */
  readonly ask: (from: number) => Promise<RangeAnswer>;
  readonly patience: Patience;
  readonly signal: AbortSignal | undefined;
  /**
   * SHA-256 of the first bytes, if the server has no other mark of a version. Then every try begins
   * at the first byte, and repeated bytes are compared with the earlier bytes.
   */
  readonly sample?: string | undefined;
}

export const sampleOf = (bytes: Buffer): string =>
  createHash('sha256').update(bytes.subarray(0, fingerprintSampleBytes)).digest('hex');

const createWitness = ({ file, sample }: ResumedRead) => {
  const changed = (): EtlError => new EtlError('ETL_SOURCE_CHANGED', { table: file.table, file: file.name });
  let seen: { readonly bytes: number; readonly digest: string } | undefined;
  let hash: Hash;
  let at = 0;
  let head: Buffer[] = [];
  let isSampled = false;
  const checkSample = (): void => {
    isSampled = true;
    if (sampleOf(Buffer.concat(head)) !== sample) throw changed();
    head = [];
  };
  const take = (bytes: Buffer): void => {
    hash.update(bytes);
    at += bytes.length;
  };
  return {
    begin: (): void => {
      if (at > (seen?.bytes ?? 0)) seen = { bytes: at, digest: hash.copy().digest('hex') };
      hash = createHash('sha256');
      [at, head, isSampled] = [0, [], false];
    },
    add: (bytes: Buffer): void => {
      if (!isSampled) {
        head.push(bytes);
        if (at + bytes.length >= fingerprintSampleBytes) checkSample();
      }
      const before = seen === undefined || at >= seen.bytes ? 0 : seen.bytes - at;
      take(bytes.subarray(0, before));
      if (before > 0 && at === seen!.bytes && hash.copy().digest('hex') !== seen!.digest) throw changed();
      take(bytes.subarray(before));
    },
    end: (): void => {
      if (!isSampled) checkSample();
      if (at < (seen?.bytes ?? 0)) throw changed();
    },
  };
};

/**
 * Yields the bytes [start, end) of a file, with as many requests as needed.
 * Errors: ETL_SOURCE_UNREACHABLE, those of `ask`.
 */
async function* readResuming(read: ResumedRead): AsyncGenerator<Buffer, void> {
  const { file, start, end, ask, patience, signal } = read;
  const tries = createTries(file, patience, signal);
  const witness = read.sample === undefined ? undefined : createWitness(read);
  let at = start;
  while (at < end) {
    try {
      witness?.begin();
      const { from, total, body } = await ask(witness === undefined ? at : 0);
      let next = from;
      for await (const bytes of body) {
        witness?.add(bytes);
        const wanted = bytes.subarray(Math.max(0, at - next), Math.max(0, end - next));
        next += bytes.length;
        if (wanted.length === 0) continue;
        at += wanted.length;
        tries.reset();
        yield wanted;
        // A complete answer is read to its end, so that its connection can be used again.
        if (at >= end && (total === undefined || next < total)) return;
      }
      if (total === undefined || next >= total) {
        witness?.end();
        return;
      }
      throw new Passing(`the connection ended after ${next} of ${total} bytes`);
    } catch (cause) {
      await tries.again(cause);
    }
  }
}

/**
 * Yields the bytes of `readResuming` in blocks of at most `blockBytes`, and reads one block ahead.
 * The memory of a block is reused when the second block after it is requested. `ask` gets the
 * signal that ends its request.
 */
export async function* readInBlocks(
  {
    ask,
    ...read
  }: Omit<ResumedRead, 'ask'> & {
    readonly ask: (from: number, signal: AbortSignal) => Promise<RangeAnswer>;
  },
  blockBytes: number,
): AsyncGenerator<Buffer, void> {
  const left = new AbortController();
  const signal = read.signal === undefined ? left.signal : AbortSignal.any([read.signal, left.signal]);
  const pieces = readResuming({ ...read, ask: (from) => ask(from, signal), signal });
  const blocks = inLargeBlocks(pieces, Math.max(1, Math.min(blockBytes, read.end - read.start)));
  let reading = blocks.next();
  try {
    for (;;) {
      const { value, done } = await reading;
      if (done === true) return;
      reading = blocks.next();
      // `await reading` throws the error of this read. Until then it must not count as unhandled.
      reading.catch(() => undefined);
      yield value;
    }
  } finally {
    left.abort();
    await reading.catch(() => undefined);
    await blocks.return();
  }
}
