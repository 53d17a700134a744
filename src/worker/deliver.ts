// Delivers notifications while the worker does other work: a slow receiver blocks nothing else.

import { withClient } from '../db/client.ts';
import { asEtlError } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Receiver } from '../core/notification.ts';
import { deliverFor, isAnyDue, type Delivering } from '../report/notify/deliver.ts';
import type { Catalog } from './catalog.ts';
import type { Site } from './find-site.ts';
import type { Look } from './watch.ts';

const deliverCheckMs = 2_000;

/** A delivery ends after this time; the next poll starts another one. */
const deliverMs = 60_000;

export const receiversFor =
  (catalog: Catalog, own: readonly Receiver[]) =>
  (pipeline: string | undefined): readonly Receiver[] => [
    ...(pipeline !== undefined && catalog.has(pipeline)
      ? (catalog.find(pipeline).pipeline.notify ?? [])
      : []),
    ...own,
  ];

interface Deliverer {
  readonly look: Look;
  readonly settled: () => Promise<void>;
}

export const createDeliverer = (site: Site, logger: Logger, signal: AbortSignal): Deliverer => {
  const delivering: Delivering = { env: process.env, logger, signal };
  let current: Promise<void> | undefined;
  const deliver = async (): Promise<void> => {
    try {
      await withClient(site.address, (client) => deliverFor(client, delivering, deliverMs));
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ code: asEtlError(error).code }, 'notifications cannot be delivered at the moment');
    } finally {
      current = undefined;
    }
  };
  return {
    look: {
      everyMs: deliverCheckMs,
      problem: 'the server cannot be queried for notifications',
      look: async (client) => {
        if (current === undefined && (await isAnyDue(client, delivering))) current = deliver();
      },
    },
    settled: async () => current,
  };
};
