// Where workers and whoever gives them work meet: the bookkeeping of a database, and its queue.

import { resolveServer, type ServerAddress } from '../db/connect/address.ts';
import { findEtlDirectory } from '../embedded/find-directory.ts';
import { withClient, type Client } from '../db/client.ts';
import { refuseSharedSessions } from '../db/connect/pooler.ts';
import { migrate } from '../db/bookkeeping/migrate.ts';
import { silentLogger } from '../logger.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { QueuePlace } from '../queue/job-queue.ts';
import type { PlaceOptions } from './options.ts';
import { rememberQueues } from './queues.ts';

export interface Place {
  readonly address: ServerAddress;
  readonly queue: QueuePlace;
}

const findServer = ({ databaseUrl, connection }: PlaceOptions): Promise<ServerAddress> =>
  resolveServer({ databaseUrl, connection, env: process.env, etlDirectory: findEtlDirectory(process.cwd()) });

/** The bookkeeping alone, for what must not fail because a queue is away. */
export const withBookkeeping = async <T>(
  options: PlaceOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> =>
  withClient(await findServer(options), async (client) => {
    await migrate(client);
    return use(client);
  });

/** Where both are, without asking either. */
export interface FoundPlace {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
}

export const findPlace = async (options: PlaceOptions): Promise<FoundPlace> => {
  const address = await findServer(options);
  return { address, backend: chooseBackend(address, options.redis, process.env) };
};

/** Brings both to the version that this program knows, and notes queues that are about to be used. Errors: those of a run before it begins. */
export const openFound = async (
  { address, backend }: FoundPlace,
  { logger }: PlaceOptions,
  queues: readonly string[],
): Promise<Place> => {
  const namespace = await withClient(address, async (client) => {
    await refuseSharedSessions(client, address);
    await migrate(client);
    if (queues.length > 0) await rememberQueues(client, queues);
    const name = await backend.namespaceOf(client);
    await backend.prepare();
    await backend.claim(client, name);
    return name;
  });
  return { address, queue: { backend, namespace, logger: logger ?? silentLogger } };
};

/** Finds and opens both. Errors: those of a run before it begins. */
export const openPlace = async (options: PlaceOptions, queues: readonly string[] = []): Promise<Place> =>
  openFound(await findPlace(options), options, queues);
