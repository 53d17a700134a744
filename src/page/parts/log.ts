// A run's log: its attempts, steps and notices, by time.

import type { RunDetails } from '../../ledger/history/history.ts';
import type { RunTimes } from '../../ledger/history/timeline.ts';
import { formatCount } from '../../core/wording.ts';
import { stateName } from '../../report/run-words.ts';
import { html, nothing, time, type Html } from './html.ts';
import { table, type Column } from './table.ts';

interface Entry {
  readonly at: Date;
  readonly text: string;
}

const columns: readonly Column<Entry>[] = [
  { title: 'When', cell: ({ at }) => time(at) },
  { title: 'What', cell: ({ text }) => html`<span class="lines">${text}</span>`, isLong: true },
];

const earlierOf = ({ earlier }: RunDetails): readonly Entry[] =>
  earlier.flatMap(({ startedAt, endedAt, errorCode, error }) => [
    { at: new Date(startedAt), text: 'attempt started' },
    {
      at: new Date(endedAt ?? startedAt),
      text: errorCode === null ? 'its process was killed' : `attempt ended: ${errorCode}: ${error ?? ''}`,
    },
  ]);

const entriesOf = (found: RunDetails, { loadedAt }: RunTimes): readonly Entry[] => {
  const { run, notices, earlier } = found;
  const steps: readonly (readonly [Date | null, string])[] = [
    [earlier.length > 0 ? null : run.startedAt, `started by process ${run.pid} on ${run.host}`],
    [loadedAt, 'loaded all files'],
    [run.finishedAt, [stateName(run), run.errorCode ?? ''].join(' ')],
  ];
  return [
    ...earlierOf(found),
    ...notices.map(({ at, text }) => ({ at: new Date(at), text })),
    ...steps.flatMap(([at, text]) => (at === null ? [] : [{ at, text }])),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());
};

export const logOf = (found: RunDetails, times: RunTimes): Html => {
  const { notices, said } = found;
  const more =
    said <= notices.length
      ? nothing
      : html`<p class="dim">The newest ${notices.length} of ${formatCount(said)} notices.</p>`;
  return html`<div class="log">${table(columns, entriesOf(found, times), { caption: 'Log' })}</div>
    ${more}`;
};
