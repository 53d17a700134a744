// How work is asked to stop, and how it finds out.

import { setMaxListeners } from 'node:events';

/** Two requests to stop: at once, or after the chunks in flight. */
export interface Stops {
  readonly abort: AbortSignal | undefined;
  readonly drain?: AbortSignal | undefined;
}

/** Throws if the work was asked to stop, at once or after the chunks in flight. */
export const stopIfAsked = ({ abort, drain }: Stops): void => {
  abort?.throwIfAborted();
  drain?.throwIfAborted();
};

/** Aborted by either request: for work without chunks in flight. */
export const stopSignal = ({ abort, drain }: Partial<Stops>): AbortSignal => {
  const signal = AbortSignal.any([abort, drain].filter((stop) => stop !== undefined));
  // Every file that is looked at listens.
  setMaxListeners(0, signal);
  return signal;
};
