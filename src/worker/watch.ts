// Polls the worker's database for several things in turn, over one connection. A failed poll ends
// the connection; the next poll opens another one. Pings the queues' server.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient, type Client } from '../db/client.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { asEtlError, messageOf } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import { closeBounded, type Queues } from '../queue/job-queue.ts';

export interface Look {
  readonly everyMs: number;
  /** Message logged when polling fails, once until it succeeds again. */
  readonly problem: string;
  /** Must not wait for longer work, because all polls share one connection. */
  readonly look: (client: Client) => Promise<void>;
}

/** A server is not well when it has not answered as it should for this time. */
const answerLateMs = 3_000;

export interface Watch {
  /** Code of the error with which polling fails, or late; undefined: the server answered lately. */
  readonly problemOf: (look: Look) => string | undefined;
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
  const answeredAt = new Map<Look, number>();
  const problems = new Map<Look, string>();
  const fail = (look: Look, error: unknown): void => {
    const { code } = asEtlError(error);
    if (!problems.has(look)) logger.warn({ code }, look.problem);
    problems.set(look, code);
  };
  const watch = async (): Promise<void> => {
    let current = await timetable.next();
    const lookOn = async (client: Client): Promise<void> => {
      for (; !signal.aborted; current = await timetable.next()) {
        await current.look(client);
        answeredAt.set(current, performance.now());
        problems.delete(current);
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
  const problemOf: Watch['problemOf'] = (look) =>
    problems.get(look) ?? lateProblem(answeredAt.get(look), look.everyMs);
  return { problemOf, over: watch() };
};

/** A server that takes connections and never answers raises no error for a long time. */
const lateProblem = (answeredAt: number | undefined, everyMs: number): string | undefined =>
  answeredAt !== undefined && performance.now() - answeredAt < everyMs + answerLateMs
    ? undefined
    : 'no answer';

const pingEveryMs = 1_000;

export interface QueueWatch {
  readonly problem: () => string | undefined;
  readonly over: Promise<unknown>;
}

/** Asks the queues' server again and again, until `signal` is aborted, whether jobs can be moved. */
export const watchQueues = ({ backend, namespace }: Queues, signal: AbortSignal): QueueWatch => {
  const { ping, end, destroy } = backend.connect(namespace, 'keeps trying');
  let answeredAt = performance.now();
  let refusal: string | undefined;
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      // While Redis is away, one ping waits until it is back.
      try {
        await ping();
        [answeredAt, refusal] = [performance.now(), undefined];
      } catch (error) {
        // An answer of Redis begins with its code.
        refusal = /^[A-Z]+(?= )/.exec(messageOf(error))?.[0];
      }
      await sleep(pingEveryMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const ended = once(signal, 'abort').then(() => closeBounded(end, destroy));
  const problem = () => refusal ?? lateProblem(answeredAt, pingEveryMs);
  return { problem, over: Promise.all([watch(), ended]) };
};
