// Sends queries ahead of the answers to earlier ones, to save round trips.

import type { PgClient as Client } from './connect/pg.ts';

interface Driver {
  pipeline: boolean;
  readonly _sentQueryQueue: readonly unknown[];
}

/** Calls of `askTogether` at work on a client: tables that are planned side by side share one. */
const callsAtWork = new WeakMap<Client, number>();

/** The driver confuses the answers if it stops sending ahead while it waits for several of them. */
const stopSendingAhead = (client: Client): void => {
  if (callsAtWork.get(client) !== 0) return;
  const driver = client as unknown as Driver;
  const { _sentQueryQueue: unanswered } = driver;
  if (unanswered.length === 0) driver.pipeline = false;
  else client.once('drain', () => stopSendingAhead(client));
};

const countCall = (client: Client, by: 1 | -1): void =>
  void callsAtWork.set(client, (callsAtWork.get(client) ?? 0) + by);

/**
 * Sends the queries of `ask` in one round trip: the driver does not wait for one answer before it
 * sends the next query. Waits for all answers, then throws the first error. Outside of a
 * transaction, queries after a failed one are executed. If one of the functions that `ask` calls
 * may open a transaction, the others must send only one query each. Calls may overlap on one client
 * (test/integration/ask-together.test.ts).
 */
export const askTogether = async <const Asked extends readonly Promise<unknown>[]>(
  client: Client,
  ask: () => Asked,
): Promise<{ -readonly [Place in keyof Asked]: Awaited<Asked[Place]> }> => {
  countCall(client, 1);
  (client as unknown as Driver).pipeline = true;
  const { stream } = client.connection;
  // In one packet.
  stream.cork();
  process.nextTick(() => stream.uncork());
  try {
    const asked = ask();
    await Promise.allSettled(asked);
    return await Promise.all(asked);
  } finally {
    countCall(client, -1);
    stopSendingAhead(client);
  }
};
