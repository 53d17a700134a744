// A site: one database with its bookkeeping and queues, shared by workers and enqueuing programs.

import type { ServerAddress } from '../db/connect/address.ts';
import { withClient, type Client } from '../db/client.ts';
import { migrate, migrateBeside } from '../db/bookkeeping/migrate.ts';
import { readTrust } from '../db/bookkeeping/trust.ts';
import { silentLogger } from '../core/logger.ts';
import { findServer } from '../run/find-server.ts';
import { findSite, type FoundSite, type Site } from './find-site.ts';
import type { SiteOptions } from './options.ts';
import { rememberQueueNames } from './queues.ts';

/** Does not look for the queue, whose address may be wrong. */
const addressOf = async (options: SiteOptions, creates: boolean): Promise<ServerAddress> =>
  options.client === undefined ? findServer(options, creates) : (await findSite(options, creates)).address;

/** Opens a connection after migrating the bookkeeping. Does not connect to the queue. */
export const withBookkeeping = async <T>(
  options: SiteOptions,
  use: (client: Client) => Promise<T>,
  creates = false,
): Promise<T> =>
  withClient(await addressOf(options, creates), async (client) => {
    await migrate(client);
    return use(client);
  });

/** Migrates bookkeeping and queue. Errors: those of a run before it starts. */
export const openFoundSite = async (
  { address, backend, keeping }: FoundSite,
  { logger }: SiteOptions,
  queueNames: readonly string[],
): Promise<Site> => {
  const namespace = await withClient(address, async (client) => {
    const [trust] = await migrateBeside(client, await readTrust(client), async () => {
      if (queueNames.length > 0) await rememberQueueNames(client, queueNames);
    });
    const name = await backend.namespaceOf(client);
    await backend.prepare(client, trust);
    await backend.claim(client, name);
    return name;
  });
  const kept = keeping?.queues;
  return { address, queues: { backend, namespace, logger: logger ?? silentLogger, kept } };
};

/**
 * Without names of queues to be remembered, the server must be there. A client's site is prepared
 * once. Errors: those of a run before it starts.
 */
export const openSite = async (options: SiteOptions, queueNames: readonly string[] = []): Promise<Site> => {
  const found = await findSite(options, queueNames.length > 0);
  const { keeping } = found;
  if (keeping?.site !== undefined && queueNames.every((name) => keeping.queueNames.has(name)))
    return keeping.site;
  const site = await openFoundSite(found, options, queueNames);
  if (keeping === undefined) return site;
  for (const name of queueNames) keeping.queueNames.add(name);
  return (keeping.site = site);
};
