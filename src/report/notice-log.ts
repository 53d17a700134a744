// Collects the notices of a run, and saves them in the ledger.

import { keepNotices, noticesKept, type Notice, type Said } from '../ledger/run/run-story.ts';
import type { Client } from '../db/client.ts';
import type { Logger } from '../core/logger.ts';
import type { RunEvent } from '../core/run-event.ts';
import { noticeOf } from './notice.ts';

/** The caller must call `onSaved` after it has saved the notices. */
export interface Unsaved extends Said {
  readonly onSaved: () => void;
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
      const onSaved = (): void => {
        notices = notices.filter((notice) => !given.includes(notice));
        said -= count;
      };
      return { notices: given, said: count, onSaved };
    },
  };
};

/** If saving fails, only logs it, because the run has ended anyway. */
export const saveNotices = async (
  client: Client,
  { logger, unsaved }: { readonly logger: Logger; readonly unsaved: () => Unsaved },
  runId: number,
): Promise<void> => {
  const { notices, said, onSaved } = unsaved();
  if (said === 0) return;
  await keepNotices(client, runId, { notices, said }).then(onSaved, (error: unknown) =>
    logger.warn({ error }, 'the notices of the run could not be saved'),
  );
};
