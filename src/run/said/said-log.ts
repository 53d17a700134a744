// The notices of a run, until they are kept in the ledger.

import { noticesKept, type Notice, type Said } from '../../checkpoint/run-story.ts';
import type { RunEvent } from '../../model.ts';
import { noticeOf } from './notice.ts';

/** What was said since it was kept last, and what to call when it is kept. */
export interface Unkept extends Said {
  readonly isKept: () => void;
}

export interface SaidLog {
  readonly hear: (event: RunEvent) => void;
  readonly unkept: () => Unkept;
}

export const createSaidLog = (): SaidLog => {
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
    unkept: () => {
      const [given, count] = [notices.slice(), said];
      const isKept = (): void => {
        notices = notices.filter((notice) => !given.includes(notice));
        said -= count;
      };
      return { notices: given, said: count, isKept };
    },
  };
};
