// A site: one database with its bookkeeping and queues, shared by workers and enqueuing programs.

import type { ServerAddress } from '../db/connect/address.ts';
import { withClient, type Client } from '../db/client.ts';
import { refuseSharedSessions } from '../db/session/pooler.ts';
import { migrate } from '../db/bookkeeping/migrate.ts';
import { silentLogger } from '../core/logger.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { Queues } from '../queue/job-queue.ts';
import { findServer } from '../run/find-server.ts';
import type { SiteOptions } from './options.ts';
import { rememberQueueNames } from './queues.ts';

export interface Site {
  readonly address: ServerAddress;
  readonly queues: Queues;
}

/** Opens a connection after migrating the bookkeeping. Does not connect to the queue. */
export const withBookkeeping = async <T>(
  options: SiteOptions,
  use: (client: Client) => Promise<T>,
  creates = false,
): Promise<T> =>
  withClient(await findServer(options, creates), async (client) => {
    await migrate(client);
    return use(client);
  });

export interface FoundSite {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
}

export const findSite = async (options: SiteOptions, creates = true): Promise<FoundSite> => {
  const address = await findServer(options, creates);
  return { address, backend: chooseBackend(address, options.redis, process.env) };
};

/** Migrates bookkeeping and queue. Errors: those of a run before it starts. */
export const openFoundSite = async (
  { address, backend }: FoundSite,
  { logger }: SiteOptions,
  queueNames: readonly string[],
): Promise<Site> => {
  const namespace = await withClient(address, async (client) => {
    await refuseSharedSessions(client, address);
    const trust = await migrate(client);
    if (queueNames.length > 0) await rememberQueueNames(client, queueNames);
    const name = await backend.namespaceOf(client);
    await backend.prepare(client, trust);
    await backend.claim(client, name);
    return name;
  });
  return { address, queues: { backend, namespace, logger: logger ?? silentLogger } };
};

/**
 * Without names of queues to be remembered, the server must be there. Errors: those of a run before
 * it starts.
 */
export const openSite = async (options: SiteOptions, queueNames: readonly string[] = []): Promise<Site> =>
  openFoundSite(await findSite(options, queueNames.length > 0), options, queueNames);
