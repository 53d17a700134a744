// Finds the server and the queue of a function of the library, or takes those that its client keeps.

import type { ServerAddress } from '../db/connect/address.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { Queues } from '../queue/job-queue.ts';
import type { KeptQueues } from '../queue/kept-queues.ts';
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

export interface Keeping {
  readonly queues: KeptQueues;
  /** Set while queue and bookkeeping are known to be ready. */
  site?: Site | undefined;
  readonly queueNames: Set<string>;
}

export type Find = (creates: boolean) => Promise<FoundSite>;

export const clients = new WeakMap<EtlClient, Find>();

export const locate = async (options: SiteOptions, creates: boolean): Promise<FoundSite> => {
  const address = await findServer(options, creates);
  return { address, backend: chooseBackend(address, options.redis, process.env) };
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
