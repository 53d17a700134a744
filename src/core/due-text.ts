// When a schedule's runs are due, in words.

import { formatSeconds } from './amounts.ts';

interface Due {
  /** null: runs start when files arrive. */
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly everyMs: number | null;
}

/** Returns `at 0 2 * * * Europe/Berlin`, or `when files arrive, looks every 10 s`. */
export const dueText = ({ cron, timeZone, everyMs }: Due): string =>
  cron === null
    ? `when files arrive, looks every ${formatSeconds(everyMs! / 1000)}`
    : `at ${cron} ${timeZone}`;
