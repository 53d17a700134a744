// Reads pieces of a stream in a separate thread, into reused memory.

import { on } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Dialect, SourceSpec } from '../../core/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import type { Segment, SourceFile } from '../../core/model.ts';
import type { Piece } from '../chunk/pieces.ts';
import { errorFrom, type PlainError } from './plain-error.ts';
import { createPool, type Pool } from './pool.ts';
import type { ReadingThreads } from './reading-threads.ts';

export interface ReadSetup {
  readonly file: SourceFile;
  readonly source: SourceSpec;
  readonly dialect: Dialect;
  readonly gaps: readonly Segment[];
  readonly pieceBytes: number;
}

export interface ReadPiece {
  readonly piece: Piece;
  readonly expectedEnd: number | undefined;
  readonly readMs: number;
}

export type ToReader =
  | { readonly type: 'read'; readonly setup: ReadSetup }
  | { readonly type: 'memory'; readonly memory: SharedArrayBuffer };

export type FromReader =
  | { readonly type: 'room' }
  | ({ readonly type: 'piece' } & ReadPiece)
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly error: PlainError };

/** Room for position lists, as a fraction of the bytes: enough for records of a hundred bytes. */
const roomForPlaces = 1 / 8;

export const createPieceMemory = (pieces: number, pieceBytes: number): Pool<SharedArrayBuffer> =>
  createPool(pieces, () => new SharedArrayBuffer(Math.ceil(pieceBytes * (1 + roomForPlaces))));

const threadEnded = (file: string, problem: string, cause?: unknown): EtlError =>
  new EtlError(
    'ETL_THREAD_ENDED',
    { problem: `reading ${file}: ${problem}` },
    cause === undefined ? {} : { cause },
  );

async function* messagesOf(
  thread: Worker,
  file: string,
  signal: AbortSignal,
): AsyncGenerator<FromReader, void> {
  try {
    for await (const [message] of on(thread, 'message', { signal, close: ['exit'] }))
      yield message as FromReader;
  } catch (cause) {
    signal.throwIfAborted();
    throw threadEnded(file, messageOf(cause), cause);
  }
}

/**
 * Yields the pieces of a stream. The caller must give the memory of each piece back to `memory`.
 * Errors: ETL_SOURCE_CHANGED, ETL_THREAD_ENDED.
 */
export async function* readStream(
  setup: ReadSetup,
  memory: Pool<SharedArrayBuffer>,
  threads: ReadingThreads,
  signal: AbortSignal,
): AsyncGenerator<ReadPiece, void> {
  signal.throwIfAborted();
  const thread = threads.take();
  const say = (message: ToReader): void => thread.postMessage(message);
  let isOpen = true;
  let hasEnded = false;
  let lent = 0;
  const lend = async (): Promise<void> => {
    const room = await memory.take();
    if (!isOpen) return memory.give(room);
    lent += 1;
    say({ type: 'memory', memory: room });
  };
  try {
    say({ type: 'read', setup });
    for await (const message of messagesOf(thread, setup.file.name, signal)) {
      if (message.type === 'end') {
        hasEnded = true;
        return;
      }
      if (message.type === 'failed') throw errorFrom(message.error);
      if (message.type === 'room') void lend();
      else {
        lent -= 1;
        yield message;
      }
    }
    throw threadEnded(setup.file.name, 'it ended before the end of its file');
  } finally {
    isOpen = false;
    for (; lent > 0; lent -= 1) memory.give(undefined);
    if (hasEnded) threads.give(thread);
    else await thread.terminate();
  }
}
