// Loaders: one with its own connection, for the main thread and for loading threads, and one over
// the coordinator's connection.

import { setTimeout as sleep } from 'node:timers/promises';
import { closeClient, destroyClient, lossOf, openClient, type Client } from '../../db/client.ts';
import { closeTimeoutMs } from '../../core/limits.ts';
import type { Counts } from '../../core/model.ts';
import type { Loader } from '../chunk/loader.ts';
import { loadSegment } from '../chunk/load-segment.ts';
import type { LoadPlan } from '../load-plan.ts';

/** Connects at once, before the first segment comes. */
export const createLoader = (plan: LoadPlan): Loader => {
  const { address } = plan;
  const counts = new Map<string, Counts>();
  const first = openClient(address);
  let idle: Promise<Client> | undefined = first;
  // If connecting fails, the first segment, which may come much later, connects again.
  first.catch(() => {
    if (idle === first) idle = undefined;
  });
  let busy: Client | undefined;
  const closing: Promise<void>[] = [];

  const load: Loader['load'] = async (segment, listener, stops) => {
    const opening = idle ?? openClient(address);
    idle = undefined;
    const client = await opening;
    busy = client;
    // Ends the connection, because an aborted COPY would wait for the server's answer. Proved by
    // test/fault/signals.test.ts, "stops at once, with a chunk in flight".
    const end = (): void => destroyClient(client, new Error('aborted'));
    stops.abort?.addEventListener('abort', end);
    if (stops.abort?.aborted) end();
    try {
      await loadSegment(client, plan, counts, segment, listener, stops);
      idle = opening;
    } catch (error) {
      // The connection may be in the middle of a COPY, so it is not used again.
      closing.push(closeClient(client));
      throw lossOf(client, address, error);
    } finally {
      busy = undefined;
      stops.abort?.removeEventListener('abort', end);
    }
  };

  return {
    load,
    close: async () => {
      // Nobody waits for the segment in flight, and its transaction must not outlive the loader.
      if (busy !== undefined) destroyClient(busy, new Error('the loader is closed'));
      if (idle !== undefined) closing.push(idle.then(closeClient, () => undefined));
      idle = undefined;
      // A connection that is still being opened is closed once it is open.
      await Promise.race([Promise.all(closing), sleep(closeTimeoutMs, undefined, { ref: false })]);
    },
  };
};

/** Loads one segment at a time over `client`, which the caller closes, and cuts if aborted. */
export const createLoaderOver = (client: Client, plan: LoadPlan): Loader => {
  const counts = new Map<string, Counts>();
  return {
    load: (segment, listener, stops) =>
      loadSegment(client, plan, counts, segment, listener, stops).catch((error: unknown) => {
        throw lossOf(client, plan.address, error);
      }),
    close: () => Promise.resolve(),
  };
};
