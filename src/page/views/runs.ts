// Earlier runs, newest first, narrowed down by pipeline and state.

import { formatSeconds } from '../../amounts.ts';
import { listRuns, shownStates, type RunSummary, type ShownState } from '../../history/history.ts';
import { formatCount } from '../../wording.ts';
import { html, nothing, seen, time, type Html } from '../parts/html.ts';
import { isUnderWay, stateBadge } from '../parts/state.ts';
import { table, type Column } from '../parts/table.ts';
import { busyMs, calmMs, type MakeView, type ViewContext } from '../view.ts';

const runsOfPage = 50;

const states = Object.keys(shownStates) as readonly ShownState[];

export const runColumns = ({ href }: ViewContext): readonly Column<RunSummary>[] => [
  { title: 'Run', cell: ({ id }) => html`<a href="${href(`/runs/${id}`)}">${id}</a>`, isNumber: true },
  { title: 'Pipeline', cell: ({ pipeline }) => seen(pipeline) },
  { title: 'State', cell: stateBadge },
  { title: 'Started', cell: ({ startedAt }) => time(startedAt) },
  { title: 'Time', cell: ({ seconds }) => (seconds === null ? '–' : formatSeconds(seconds)), isNumber: true },
  { title: 'Records', cell: ({ records }) => formatCount(records), isNumber: true },
  {
    title: 'Rejected',
    cell: ({ id, rejected }) =>
      rejected === 0 ? '0' : html`<a href="${href(`/rejects?run=${id}`)}">${formatCount(rejected)}</a>`,
    isNumber: true,
  },
  {
    title: 'Error',
    cell: ({ errorCode }) => (errorCode === null ? nothing : html`<code>${errorCode}</code>`),
  },
];

const choiceOf = (chosen: ShownState | undefined, pipeline: string | null, { href }: ViewContext): Html => {
  const linkTo = (state?: ShownState): string => {
    const query = new URLSearchParams({ ...(pipeline && { pipeline }), ...(state && { state }) });
    return href(`/runs${query.size > 0 ? `?${query.toString()}` : ''}`);
  };
  const link = (text: string, state?: ShownState): Html =>
    html`<a href="${linkTo(state)}" class="${state === chosen ? 'chosen' : ''}">${text}</a>`;
  return html`<p class="choice">
    ${pipeline === null ? nothing : html`Pipeline <b>${seen(pipeline)}</b> <a href="${href('/runs')}">all pipelines</a> · `}${link('all')}${states.map((state) => link(state, state))}
  </p>`;
};

export const runsView: MakeView = async (context) => {
  const { client, query } = context;
  const pipeline = query.get('pipeline');
  const state = states.find((one) => one === query.get('state'));
  const runs = await listRuns(client, { limit: runsOfPage, pipeline: pipeline ?? undefined, state });
  return {
    title: 'Runs',
    place: 'runs',
    freshMs: runs.some(isUnderWay) ? busyMs : calmMs,
    sections: [
      { id: 'choice', body: choiceOf(state, pipeline, context) },
      { id: 'runs', body: table(runColumns(context), runs, { caption: 'Runs', none: 'No such runs.' }) },
    ],
  };
};
