// Saves the notices of a run in the ledger.

import { keepNotices } from '../ledger/run/run-story.ts';
import type { Client } from '../db/client.ts';
import type { Logger } from '../core/logger.ts';
import type { Unsaved } from './notice-log.ts';

/** Saves those that are new. A failure is only logged: the run is published, or has failed, with or without them. */
export const saveNotices = async (
  client: Client,
  { logger, unsaved }: { readonly logger: Logger; readonly unsaved: () => Unsaved },
  runId: number,
): Promise<void> => {
  const { notices, said, isSaved } = unsaved();
  if (said === 0) return;
  await keepNotices(client, runId, { notices, said }).then(isSaved, (error: unknown) =>
    logger.warn({ error }, 'the notices of the run could not be saved'),
  );
};
