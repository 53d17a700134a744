// Turns some events into notices: lines for the terminal, the page and the ledger.

import type { RunEvent, SnapshotHolder } from '../core/run-event.ts';
import { formatSeconds } from '../core/amounts.ts';
import { firstOf, plural } from '../core/wording.ts';

const chunksAndRecords = ({ chunks, records }: { chunks: number; records: number }): string =>
  `${plural(chunks, 'chunk')} (${plural(records, 'record')})`;

const holdersShown = 3;

const holderText = ({ pid, user, application, since, isStandby }: SnapshotHolder): string => {
  const what = isStandby ? 'a standby' : `process ${pid}`;
  const known = [user, application, since === null ? null : `since ${since}`].filter((one) => one !== null);
  return known.length === 0 ? what : `${what} (${known.join(', ')})`;
};

/** Example: "process 4711 (report, psql, since 2026-01-01T02:14:03Z)". */
export const holdersText = (holders: readonly SnapshotHolder[]): string =>
  firstOf(holders.map(holderText), holdersShown).join(', ');

export const noticeOf = (event: RunEvent): string | undefined => {
  if (event.type === 'notice') return event.message;
  if (event.type === 'resumed' && event.chunks === 0)
    return `continuing run ${event.runId}: nothing of it is loaded yet`;
  if (event.type === 'resumed')
    return `continuing run ${event.runId}: ${chunksAndRecords(event)} ${event.chunks === 1 ? 'is' : 'are'} already loaded`;
  if (event.type === 'waiting')
    return `${event.problem}; waiting up to ${formatSeconds(event.waitMs / 1000)} for the server`;
  if (event.type === 'snapshots')
    return `publishing waits up to ${formatSeconds(event.waitMs / 1000)} for ${holdersText(event.holders)}: a snapshot that is older than the new tables would show them empty`;
  if (event.type !== 'recovered') return undefined;
  if (!event.crashed) return 'the server is back; nothing was lost';
  if (event.chunks === 0) return 'the server crashed and recovered; nothing has to be loaded again';
  return `the server crashed and recovered: ${chunksAndRecords(event)} ${event.chunks === 1 ? 'is' : 'are'} loaded again`;
};
