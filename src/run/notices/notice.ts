// Events that are worth one line of their own wherever progress is shown.

import type { RunEvent } from '../../model.ts';
import { formatSeconds } from '../../amounts.ts';
import { plural } from '../../wording.ts';

const chunksAndRecords = ({ chunks, records }: { chunks: number; records: number }): string =>
  `${plural(chunks, 'chunk')} (${plural(records, 'record')})`;

/** The line, or undefined when the event is no notice. */
export const noticeOf = (event: RunEvent): string | undefined => {
  if (event.type === 'notice') return event.message;
  if (event.type === 'resumed')
    return `continuing run ${event.runId}: ${chunksAndRecords(event)} ${event.chunks === 1 ? 'is' : 'are'} already loaded`;
  if (event.type === 'waiting')
    return `${event.problem}; waiting up to ${formatSeconds(event.waitMs / 1000)} for the server`;
  if (event.type !== 'recovered') return undefined;
  if (!event.crashed) return 'the server is back; nothing was lost';
  if (event.chunks === 0) return 'the server crashed and recovered; nothing has to be loaded again';
  return `the server crashed and recovered: ${chunksAndRecords(event)} ${event.chunks === 1 ? 'is' : 'are'} loaded again`;
};
