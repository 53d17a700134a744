// What a host keeps open between its calls of the library: connections to database and queue.

import { createIdle } from '../db/idle-clients.ts';
import { keepQueues } from '../queue/kept-queues.ts';
import { clients, locate, type Find, type FoundSite, type Keeping } from './find-site.ts';
import type { EtlClient, SiteOptions } from './options.ts';

/** A connection is closed after this time without use. */
const idleMs = 60_000;

/**
 * Keeps connections for the functions to which it is given as `client`, so that a service does not
 * connect for each call. Connects at the first call. Until it is closed, it keeps the process alive.
 */
export const createClient = (options: Omit<SiteOptions, 'client'> = {}): EtlClient => {
  const idle = createIdle(idleMs);
  const queues = keepQueues(() => (keeping.site = undefined));
  const keeping: Keeping = { queues, queueNames: new Set() };
  let found: Promise<FoundSite> | undefined;
  const find: Find = async (creates) => {
    found ??= locate(options, creates).then(({ address, backend }) => ({
      address: { ...address, idle },
      backend,
      keeping,
    }));
    return found.catch((error: unknown) => {
      found = undefined;
      throw error;
    });
  };
  const client: EtlClient = {
    close: async () => {
      await Promise.all([keeping.queues.close(), idle.close()]);
    },
  };
  clients.set(client, find);
  return client;
};
