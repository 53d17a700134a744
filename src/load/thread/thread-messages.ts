// Messages between a run's main thread and its loading threads: plain data, because they are cloned.

import { EtlError, messageOf, type ErrorCode, type ErrorDetails } from '../../core/errors/errors.ts';
import type { Counts } from '../../core/model.ts';
import type { LoadTimes } from '../../core/profile.ts';
import type { ChunkNews } from '../../report/run-trace.ts';
import type { PipelineFile } from '../../pipeline/definition.ts';
import type { SegmentTask } from '../chunk/load-segment.ts';
import type { LoaderSetup } from './segment-loader.ts';

/** What a thread begins with. With `file`, the tables' columns and filters are that file's. */
export interface ThreadSetup {
  readonly loader: LoaderSetup;
  readonly file: PipelineFile | undefined;
}

/** How a segment is stopped: after its chunk in flight, by breaking its COPY off, by ending its connection. */
export type Stop = 'drain' | 'leave' | 'abort';

export type ToThread =
  | { readonly type: 'load'; readonly task: SegmentTask }
  | { readonly type: 'stop'; readonly how: Stop }
  | { readonly type: 'close' };

export type FromThread =
  | { readonly type: 'decoded'; readonly bytes: number; readonly counts: Counts }
  | { readonly type: 'chunk'; readonly times: LoadTimes; readonly news: ChunkNews }
  | { readonly type: 'fileEnd'; readonly byte: number }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly error: PlainError };

/** An error as data: cloning would keep neither its class nor its code. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: PlainError | undefined;
  /** Code of an error of ours, which is created again from it. */
  readonly ours: ErrorCode | undefined;
  /** `details` of an error of ours; of others what they carry in texts and numbers: SQLSTATE, column, detail … */
  readonly details: ErrorDetails;
}

const textsOf = (error: object): ErrorDetails =>
  Object.fromEntries(
    Object.entries(error).filter(([, value]) => typeof value === 'string' || typeof value === 'number'),
  );

/** Takes an error apart, for the way to another thread. */
export const plainError = (thrown: unknown): PlainError => {
  const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
  const { name, message, stack, cause } = error;
  const isOurs = error instanceof EtlError;
  return {
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : plainError(cause),
    ours: isOurs ? error.code : undefined,
    details: isOurs ? error.details : textsOf(error),
  };
};

/** Puts an error together again: ours with its class, any other with its name and whatever its driver said. */
export const errorFrom = ({ name, message, stack, cause, ours, details }: PlainError): Error => {
  const options = cause === undefined ? {} : { cause: errorFrom(cause) };
  const error =
    ours === undefined
      ? Object.assign(new Error(message, options), details, { name })
      : new EtlError(ours, details, options);
  if (stack !== undefined) error.stack = stack;
  return error;
};
