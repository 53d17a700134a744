// Requests to stop work.

import { setMaxListeners } from 'node:events';

export interface Stops {
  /** Stop at once: a loader closes its connection. */
  readonly abort: AbortSignal | undefined;
  /** Roll back the chunks that are being loaded, and keep the connections. */
  readonly leave?: AbortSignal | undefined;
  /** Finish the chunks that are being loaded. */
  readonly drain?: AbortSignal | undefined;
}

export const stopIfAsked = ({ abort, leave, drain }: Stops): void => {
  abort?.throwIfAborted();
  leave?.throwIfAborted();
  drain?.throwIfAborted();
};

export const stopSignal = ({ abort, leave, drain }: Partial<Stops>): AbortSignal => {
  const signal = AbortSignal.any([abort, leave, drain].filter((stop) => stop !== undefined));
  // Many files listen to the signal at once, which Node would report as a leak.
  setMaxListeners(0, signal);
  return signal;
};
