// Polls the worker's database for several things in turn, over one connection. A failed poll ends
// the connection; the next poll opens another one. Pings the queues' server.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient, type Client } from '../db/client.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { asEtlError } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import { closeBounded, type Queues } from '../queue/job-queue.ts';

export interface Look {
  readonly everyMs: number;
  /** Message logged when polling fails, once until it succeeds again. */
  readonly problem: string;
  /** Must not wait for longer work, because all polls share one connection. */
  readonly look: (client: Client) => Promise<void>;
}

export interface Watch {
  readonly isWell: (look: Look) => boolean;
  readonly over: Promise<void>;
}

const createTimetable = (looks: readonly [Look, ...Look[]], signal: AbortSignal) => {
  const dueAt = new Map(looks.map((look) => [look, performance.now()]));
  const dueOf = (look: Look): number => dueAt.get(look)!;
  return {
    next: async (): Promise<Look> => {
      const first = looks.reduce((one, other) => (dueOf(other) < dueOf(one) ? other : one));
      const waitMs = dueOf(first) - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      // Set before the poll, so that a poll that fails at once is not repeated at once.
      dueAt.set(first, performance.now() + first.everyMs);
      return first;
    },
  };
};

export const watchDatabase = (
  address: ServerAddress,
  looks: readonly [Look, ...Look[]],
  logger: Logger,
  signal: AbortSignal,
): Watch => {
  const timetable = createTimetable(looks, signal);
  const well = new Set<Look>();
  const reported = new Set<Look>();
  const fail = (look: Look, error: unknown): void => {
    well.delete(look);
    if (!reported.has(look)) logger.warn({ code: asEtlError(error).code }, look.problem);
    reported.add(look);
  };
  const watch = async (): Promise<void> => {
    let current = await timetable.next();
    const lookOn = async (client: Client): Promise<void> => {
      for (; !signal.aborted; current = await timetable.next()) {
        await current.look(client);
        well.add(current);
        reported.delete(current);
      }
    };
    while (!signal.aborted)
      try {
        await withClient(address, lookOn);
      } catch (error) {
        fail(current, error);
        current = await timetable.next();
      }
  };
  return { isWell: (look) => well.has(look), over: watch() };
};

const pingEveryMs = 1_000;
/** A worker is not ready when the queues' server has not answered for this time. */
const pingLateMs = 3_000;

export interface QueueWatch {
  readonly isWell: () => boolean;
  readonly over: Promise<unknown>;
}

/** Asks the queues' server again and again, until `signal` is aborted, whether it is there. */
export const watchQueues = ({ backend, namespace }: Queues, signal: AbortSignal): QueueWatch => {
  const { ping, end, destroy } = backend.connect(namespace, 'keeps trying');
  let answeredAt = performance.now();
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      // While Redis is away, one ping waits until it is back.
      await ping().then(
        () => (answeredAt = performance.now()),
        () => undefined,
      );
      await sleep(pingEveryMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const ended = once(signal, 'abort').then(() => closeBounded(end, destroy));
  return { isWell: () => performance.now() - answeredAt < pingLateMs, over: Promise.all([watch(), ended]) };
};
