// Sends due notifications, and tries again after growing pauses. Errors of receivers are never
// thrown.

import { setTimeout as sleep } from 'node:timers/promises';
import { runQuery, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { Logger } from '../../core/logger.ts';
import type { Notification, Receiver } from '../../core/notification.ts';
import { UnusableSecret } from './contract.ts';
import * as outbox from './outbox.ts';
import { post, receiverUrl, type Refused } from './post.ts';
import { channelOf } from './registry.ts';

/** Seconds to wait after each failed attempt: two days in all. */
const pauses = [0.5, 1, 5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400] as const;

const pauseMsMax = 86_400_000;

/** Time for an attempt: a receiver should answer first, and do its work afterwards. */
const attemptMsMax = 10_000;

/** Time for which no other process sends the notification: longer than an attempt takes. */
const claimMs = 3 * attemptMsMax;

const sideBySide = 20;

export interface Delivering {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Aborts attempts. Another process sends these notifications later. */
  readonly signal: AbortSignal;
  readonly attemptMs?: number;
}

type Sendable = Omit<outbox.Claimed, 'id' | 'attempts'>;

const attempt = async (
  { message, channel: name, urlName, secretName, payload }: Sendable,
  { env, signal, attemptMs = attemptMsMax }: Delivering,
): Promise<Refused | undefined> => {
  const channel = channelOf(name);
  if (channel === undefined) return { problem: `this version knows no channel ${name}`, isFinal: false };
  const url = receiverUrl(env[urlName] ?? '');
  if (typeof url === 'string')
    return { problem: `the value of ${urlName} is not usable: ${url}`, isFinal: true };
  try {
    const secret = secretName === null ? undefined : env[secretName];
    const request = channel.request({ id: message, at: new Date(), notification: payload, secret });
    return await post(url, request, Math.min(attemptMs, attemptMsMax), signal);
  } catch (error) {
    if (!(error instanceof UnusableSecret)) throw error;
    return { problem: `the value of ${secretName} is not usable: ${error.message}`, isFinal: true };
  }
};

const pauseAfter = (attempts: number, { isFinal, retryAfterMs = 0 }: Refused): number | undefined => {
  const seconds = pauses[attempts - 1];
  if (isFinal || seconds === undefined) return undefined;
  return Math.max(seconds * 1000, Math.min(retryAfterMs, pauseMsMax));
};

export const reachable = async (
  client: Client,
  { env }: Pick<Delivering, 'env'>,
): Promise<readonly outbox.ReceiverNames[]> =>
  (await outbox.pendingReceivers(client)).filter((one) =>
    [one.url_name, one.secret_name].every((name) => name === null || Boolean(env[name])),
  );

export const missingVariables = async (
  client: Client,
  env: Delivering['env'],
): Promise<readonly string[]> => {
  const named = (await outbox.pendingReceivers(client)).flatMap((one) => [one.url_name, one.secret_name]);
  return [...new Set(named)].filter((name) => name !== null && !env[name]) as string[];
};

export const isAnyDue = async (client: Client, delivering: Delivering): Promise<boolean> => {
  const receivers = await reachable(client, delivering);
  return receivers.length > 0 && (await outbox.nextAttemptMs(client, receivers)) === 0;
};

/** Returns the statement that records the result. Errors: the signal's reason. */
const sendClaimed = async (one: outbox.Claimed, delivering: Delivering): Promise<Query> => {
  const { id, message, attempts, channel, urlName } = one;
  const refused = await attempt(one, delivering);
  if (refused === undefined) return outbox.recordDelivered(id);
  const { problem } = refused;
  const pauseMs = pauseAfter(attempts, refused);
  const isOver = pauseMs === undefined;
  delivering.logger.warn(
    { message, channel, receiver: urlName, problem, attempts },
    isOver ? 'a notification is given up' : 'a notification was not delivered; it is tried again',
  );
  return outbox.recordRefused(id, problem, pauseMs);
};

const attemptMsMin = 200;

/**
 * Sends notifications that are due, or become due, within `ms`; returns early if there are none.
 * Errors: those of the server, the signal's reason.
 */
export const deliverFor = async (client: Client, delivering: Delivering, ms: number): Promise<void> => {
  const deadline = performance.now() + ms;
  const leftMs = (): number => deadline - performance.now();
  const underWay = new Set<Promise<void>>();
  // The connection takes one statement at a time.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  const begin = (one: outbox.Claimed): void => {
    const sent = sendClaimed(one, { ...delivering, attemptMs: leftMs() })
      .then((query) => inTurn(() => runQuery(client, query)))
      .then(() => void underWay.delete(sent));
    // If another promise fails first, this error must not count as unhandled.
    sent.catch(() => undefined);
    underWay.add(sent);
  };
  while (leftMs() > attemptMsMin) {
    const receivers = await inTurn(() => reachable(client, delivering));
    const claim = outbox.claimDue(receivers, claimMs, sideBySide - underWay.size);
    for (const one of (await inTurn(() => runQuery(client, claim))).rows) begin(one);
    const nextMs = (await inTurn(() => outbox.nextAttemptMs(client, receivers))) ?? Infinity;
    const isNextInTime = nextMs < leftMs() - attemptMsMin;
    if (underWay.size === 0 && !isNextInTime) return;
    const isFull = underWay.size === sideBySide;
    const pause = new AbortController();
    const signal = AbortSignal.any([pause.signal, delivering.signal]);
    const due = isNextInTime && !isFull ? [sleep(nextMs, undefined, { signal })] : [];
    await Promise.race([...underWay, ...due]).finally(() => pause.abort());
    for (const one of due) one.catch(() => undefined);
  }
  await Promise.all(underWay);
};

/** Sends a notification once to each receiver, without the database, which has failed. */
export const sendUnkept = async (
  receivers: readonly Receiver[],
  notification: Notification,
  message: string,
  delivering: Delivering,
): Promise<void> => {
  const wanted = receivers.filter(({ on }) => on.includes(notification.type));
  await Promise.all(
    wanted.map(async ({ channel, url, secret }) => {
      if (!delivering.env[url.name]) return;
      const one = {
        message,
        channel,
        urlName: url.name,
        secretName: secret?.name ?? null,
        payload: notification,
      };
      const refused = await attempt(one, delivering);
      if (refused !== undefined)
        delivering.logger.warn(
          { channel, receiver: url.name, problem: refused.problem },
          'a notification was not delivered',
        );
    }),
  );
};
