// Delivers pending notifications at the end of a run, for a short time. A failure does not fail the
// run.

import { randomUUID } from 'node:crypto';
import type { ServerAddress } from '../../db/connect/address.ts';
import { isThere, withClient, type Client } from '../../db/client.ts';
import type { EtlError } from '../../core/errors/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Receiver } from '../../core/notification.ts';
import { deliverFor, reachable, sendUnkept, type Delivering } from '../../report/notify/deliver.ts';
import type { RunContext } from '../context.ts';
import type { PreparedRun } from '../prepare.ts';
import { failureBefore } from '../../report/notify/events.ts';

/**
 * Enough for a receiver that answers with HTTP 500 twice; short for a person who waits for the
 * prompt.
 */
const atEndMs = 5_000;

const delivering = (logger: Logger): Delivering => ({
  env: process.env,
  logger,
  signal: new AbortController().signal,
});

export const isSomethingOwed = async (client: Client): Promise<boolean> =>
  (await reachable(client, { env: process.env })).length > 0;

export const unsetText = (receivers: readonly Receiver[], env: Delivering['env']): string | undefined => {
  const names = receivers.flatMap(({ url, secret }) => [
    url.name,
    ...(secret === undefined ? [] : [secret.name]),
  ]);
  const missing = [...new Set(names)].filter((name) => !env[name]);
  const [is, it] = missing.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return missing.length === 0
    ? undefined
    : `${missing.join(', ')} ${is} not set: notifications wait for a run or worker that has ${it}`;
};

/** Warns that notifications wait for a process that has the missing variables. */
export const sayUnreachable = ({ receivers, report }: Pick<RunContext, 'receivers' | 'report'>): void => {
  const message = unsetText(receivers, process.env);
  if (message !== undefined) report.emit({ type: 'notice', message });
};

/** Delivers what it can in `atEndMs`. The next run or worker delivers the rest. */
export const deliverAtEnd = async (address: ServerAddress, logger: Logger): Promise<void> => {
  await withClient(address, async (client) => {
    // A run may have failed before it created the bookkeeping.
    if (await isThere(client, 'etl.notification')) await deliverFor(client, delivering(logger), atEndMs);
  }).catch((error: unknown) =>
    logger.warn({ error }, 'notifications could not be delivered; the next run or worker will'),
  );
};

export const deliverOwed = async ({
  address,
  receivers,
  report,
}: Pick<PreparedRun, 'address' | 'receivers' | 'report'>): Promise<void> => {
  if (receivers.length > 0) await deliverAtEnd(address, report.logger);
};

/** Tries once to send a failure that could not be recorded, because the server is lost. */
export const notifyUnkept = async (
  receivers: readonly Receiver[],
  pipeline: string | null,
  error: EtlError,
  logger: Logger,
): Promise<void> =>
  sendUnkept(receivers, failureBefore(pipeline, new Date(), error), randomUUID(), {
    ...delivering(logger),
    attemptMs: atEndMs,
  });
