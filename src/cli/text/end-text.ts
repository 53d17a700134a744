// The last lines of a run that changed nothing, and of one on the embedded server.

import { formatDate } from '../../core/amounts.ts';
import type { RunResult } from '../../core/model.ts';
import { wrapUnder } from '../layout.ts';
import type { Paint } from '../paint.ts';

/** The summary of a run that had nothing to do. */
export const unchangedLines = ({ runId, publishedAt }: RunResult, width: number): string[] =>
  wrapUnder(
    `Nothing to do: no file is new or changed, nor is the definition, since run ${runId}, published ` +
      `${formatDate(publishedAt)}; --full-refresh loads everything again.`,
    width,
    2,
  );

/** How to get at the embedded server, which outlives the run. */
export const embeddedLines = (paint: Paint): string[] => [
  'The embedded PostgreSQL keeps running:',
  `  ${paint('cyan', 'psql "$(npx etl db url)"')}   look at the tables`,
  `  ${paint('cyan', 'npx etl db stop')}            stop it; the data stays`,
];
