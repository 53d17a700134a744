// How work is asked to stop, and how it finds out.

import { setMaxListeners } from 'node:events';

/** Requests to stop. */
export interface Stops {
  /** At once; a loader ends its connection. */
  readonly abort: AbortSignal | undefined;
  /** Without the chunks in flight, whose connections stay usable. */
  readonly leave?: AbortSignal | undefined;
  /** After the chunks in flight. */
  readonly drain?: AbortSignal | undefined;
}

/** Throws if the work was asked to stop, at once or after the chunks in flight. */
export const stopIfAsked = ({ abort, leave, drain }: Stops): void => {
  abort?.throwIfAborted();
  leave?.throwIfAborted();
  drain?.throwIfAborted();
};

/** Aborted by any of the requests that are given. */
export const stopSignal = ({ abort, leave, drain }: Partial<Stops>): AbortSignal => {
  const signal = AbortSignal.any([abort, leave, drain].filter((stop) => stop !== undefined));
  // Every file that is looked at listens.
  setMaxListeners(0, signal);
  return signal;
};
