// Sends pending notifications, for `etl notifications`.

import { migrate } from '../db/bookkeeping/migrate.ts';
import type { Client } from '../db/client.ts';
import { silentLogger } from '../core/logger.ts';
import { deliverFor, missingVariables } from '../report/notify/deliver.ts';
import { countStates, makeDue } from '../report/notify/outbox.ts';

export const sendNow = async (
  client: Client,
  {
    givenUp,
    signal,
    untilMs,
  }: { readonly givenUp: boolean; readonly signal: AbortSignal; readonly untilMs: number },
) => {
  await migrate(client);
  await makeDue(client, givenUp);
  const before = await countStates(client);
  await deliverFor(client, { env: process.env, logger: silentLogger, signal }, untilMs);
  const after = await countStates(client);
  return {
    delivered: after.delivered - before.delivered,
    pending: after.pending,
    givenUp: after.givenUp,
    missing: await missingVariables(client, process.env),
  };
};
