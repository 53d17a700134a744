// What a host keeps open between its calls of the library: connections to database and queue.

import { createIdle } from '../db/idle-clients.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { Queues } from '../queue/job-queue.ts';
import { keepQueues, type KeptQueues } from '../queue/kept-queues.ts';
import { findServer } from '../run/find-server.ts';
import type { EtlClient, SiteOptions } from './options.ts';

export interface Site {
  readonly address: ServerAddress;
  readonly queues: Queues;
}

export interface FoundSite {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
  readonly keeping?: Keeping;
}

interface Keeping {
  readonly queues: KeptQueues;
  /** Set while queue and bookkeeping are known to be ready. */
  site?: Site | undefined;
  readonly queueNames: Set<string>;
}

type Find = (creates: boolean) => Promise<FoundSite>;

const clients = new WeakMap<EtlClient, Find>();

/** A connection is closed after this time without use. */
const idleMs = 60_000;

const locate = async (options: SiteOptions, creates: boolean): Promise<FoundSite> => {
  const address = await findServer(options, creates);
  return { address, backend: chooseBackend(address, options.redis, process.env) };
};

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

export const findSite = async (options: SiteOptions, creates = true): Promise<FoundSite> => {
  const { client, databaseUrl, connection, redis } = options;
  if (client === undefined) return locate(options, creates);
  const find = clients.get(client);
  if (find !== undefined && databaseUrl === undefined && connection === undefined && redis === undefined)
    return find(creates);
  const problem =
    find === undefined
      ? 'client was not made by createClient'
      : 'client has its own server and queue, and another one is given';
  throw new EtlError('ETL_USAGE', {
    problem,
    hint: 'Give databaseUrl, connection and redis to createClient.',
  });
};
