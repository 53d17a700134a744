// Collects the notices of a run until they are saved in the ledger.

import { noticesKept, type Notice, type Said } from '../ledger/run/run-story.ts';
import type { RunEvent } from '../core/model.ts';
import { noticeOf } from './notice.ts';

/** Notices since the last save, and the function to call once they are saved. */
export interface Unsaved extends Said {
  readonly isSaved: () => void;
}

interface NoticeLog {
  readonly hear: (event: RunEvent) => void;
  readonly unsaved: () => Unsaved;
}

export const createNoticeLog = (): NoticeLog => {
  let notices: Notice[] = [];
  let said = 0;
  return {
    hear: (event) => {
      const text = noticeOf(event);
      if (text === undefined) return;
      said += 1;
      if (notices.length >= noticesKept) notices.shift();
      notices.push({ at: new Date().toISOString(), text });
    },
    unsaved: () => {
      const [given, count] = [notices.slice(), said];
      const isSaved = (): void => {
        notices = notices.filter((notice) => !given.includes(notice));
        said -= count;
      };
      return { notices: given, said: count, isSaved };
    },
  };
};
