// Reads a file over a network that may fail: what can pass is tried again, from the last byte, a bounded number of times.

import { createHash, type Hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inLargeBlocks } from '../../core/large-blocks.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { fingerprintSampleBytes } from '../../core/limits.ts';
import type { NamedFile } from './contract.ts';

/** A failure that may pass: a cut connection, an overloaded server. */
export class Passing extends Error {
  /** How long the server asks us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: string, options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {}) {
    super(problem, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** How often, and for how long, the same is tried again without a byte. */
export interface Patience {
  readonly tries: number;
  readonly ms: number;
}

/** First pause between two tries, and the longest; half of each is left to chance, so that many readers do not come back at once. */
const pauseFirstMs = 250;
const pauseMsMax = 10_000;

interface Tries {
  /** Returns when it is time for another try. Throws what cannot pass, the signal's reason, or ETL_SOURCE_UNREACHABLE. */
  readonly again: (cause: unknown) => Promise<void>;
  /** Something came: count from the beginning. */
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

/** What `work` gives, at one of several tries. */
export const withTries = async <T>(
  file: NamedFile,
  patience: Patience,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  const tries = createTries(file, patience, signal);
  for (;;) {
    try {
      return await work();
    } catch (cause) {
      await tries.again(cause);
    }
  }
};

/** The bytes of a file from some place on, as a server sends them. */
export interface RangeAnswer {
  /** The first of them: no later than what was asked for. A server that knows no ranges begins at 0. */
  readonly from: number;
  /** Where the file ends; undefined when the server does not say. */
  readonly total: number | undefined;
  readonly body: AsyncIterable<Buffer>;
}

export interface ResumedRead {
  readonly file: NamedFile;
  readonly start: number;
  /** Infinity: to the file's end. */
  readonly end: number;
  /**
   * Asks for the bytes from `from` on. Throws Passing for what may be tried again, also while the body is read; and ETL_SOURCE_CHANGED
   * when the server has another version by now.
   */
  readonly ask: (from: number) => Promise<RangeAnswer>;
  readonly patience: Patience;
  readonly signal: AbortSignal | undefined;
  /**
   * SHA-256 of the first bytes, if nothing else tells one version from another. Then every try begins at the first byte, and what
   * comes again is compared with what came before.
   */
  readonly sample?: string | undefined;
}

export const sampleOf = (bytes: Buffer): string =>
  createHash('sha256').update(bytes.subarray(0, fingerprintSampleBytes)).digest('hex');

/** What has come of a file that has no version, to compare it with what comes again. */
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

/** The bytes [start, end) of a file, whatever its server does in between. Errors: ETL_SOURCE_UNREACHABLE, those of `ask`. */
export async function* readResuming(read: ResumedRead): AsyncGenerator<Buffer, void> {
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
        // An answer that has come to its end is left to end: its connection serves the next request.
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

/** The same bytes in blocks of at most `blockBytes`, of which the next is read ahead. They stay valid until the second block after them is requested. */
export async function* inBlocks(
  open: (signal: AbortSignal) => AsyncIterable<Buffer>,
  blockBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  const left = new AbortController();
  const pieces = open(signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]));
  const blocks = inLargeBlocks(pieces, blockBytes);
  let reading = blocks.next();
  try {
    for (;;) {
      const { value, done } = await reading;
      if (done === true) return;
      reading = blocks.next();
      // Reported when its turn comes, which may be never.
      reading.catch(() => undefined);
      yield value;
    }
  } finally {
    left.abort();
    await reading.catch(() => undefined);
    await blocks.return();
  }
}
