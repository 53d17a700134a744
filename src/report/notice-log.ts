// Collects the notices of a run, and saves them in the ledger.

import { keepNotices, noticesKept, type Notice, type Said } from '../ledger/run/run-story.ts';
import type { Client } from '../db/client.ts';
import type { Logger } from '../core/logger.ts';
import type { RunEvent } from '../core/model.ts';
import { noticeOf } from './notice.ts';

/** Notices since the last save, and the function to call once they are saved. */
export interface Unsaved extends Said {
  readonly isSaved: () => void;
}

export const createNoticeLog = () => {
  let notices: Notice[] = [];
  let said = 0;
  return {
    hear: (event: RunEvent): void => {
      const text = noticeOf(event);
      if (text === undefined) return;
      said += 1;
      if (notices.length >= noticesKept) notices.shift();
      notices.push({ at: new Date().toISOString(), text });
    },
    unsaved: (): Unsaved => {
      const [given, count] = [notices.slice(), said];
      const isSaved = (): void => {
        notices = notices.filter((notice) => !given.includes(notice));
        said -= count;
      };
      return { notices: given, said: count, isSaved };
    },
  };
};

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
