// The page of all runs, newest first, filtered by pipeline and state.

import { formatSeconds } from '../../core/amounts.ts';
import { shownStates, type RunSummary, type ShownState } from '../../ledger/history/history.ts';
import {
  runsPage,
  type RunPlace,
  type RunsPage,
  type RunsPageWanted,
} from '../../ledger/history/run-page.ts';
import { formatCount } from '../../core/wording.ts';
import { failuresShown, listFailures } from '../../ledger/run/failure.ts';
import { codeLink } from '../parts/error-page.ts';
import { failureSections } from '../parts/failures.ts';
import { html, nothing, time, type Html } from '../parts/html.ts';
import { isUnderWay } from '../../report/run-words.ts';
import { choiceLink } from '../parts/pages.ts';
import { stateBadge } from '../parts/state.ts';
import { table, type Column } from '../parts/table.ts';
import { busyMs, calmMs, withQuery, type MakeView, type ViewContext } from '../parts/view.ts';

const runsOfPage = 50;

const states = Object.keys(shownStates) as readonly ShownState[];

const runColumns = ({ href }: ViewContext): readonly Column<RunSummary>[] => [
  { title: 'Run', cell: ({ id }) => html`<a href="${href(`/runs/${id}`)}">${id}</a>`, isNumber: true },
  { title: 'Pipeline', cell: ({ pipeline }) => pipeline },
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
    cell: ({ errorCode }) => (errorCode === null ? nothing : codeLink(errorCode, href)),
  },
];

interface Chosen {
  readonly state: ShownState | undefined;
  readonly pipeline: string | null;
}

const linkOf = ({ href }: ViewContext, { state, pipeline }: Chosen, from = {}): string =>
  href(withQuery('/runs', { pipeline, state, ...from }));

/** Writes `<microseconds>.<id>`; a run under way has no end, and so no microseconds. */
const writePlace = ({ endedMicros, id }: RunPlace): string => `${endedMicros ?? ''}.${id}`;

/** Anybody can write the URL's query, so the position may be anything. */
const readPlace = (text: string | null): RunPlace | undefined => {
  const [, micros = '', id] = /^(\d{0,16})\.(\d{1,15})$/.exec(text ?? '') ?? [];
  return id === undefined
    ? undefined
    : { endedMicros: micros === '' ? null : Number(micros), id: Number(id) };
};

const readFrom = (query: URLSearchParams): RunsPageWanted['from'] => {
  const [older, newer] = [readPlace(query.get('older')), readPlace(query.get('newer'))];
  if (older !== undefined) return { way: 'older', place: older };
  return newer === undefined ? undefined : { way: 'newer', place: newer };
};

const turnOf = ({ newer, older }: RunsPage, chosen: Chosen, context: ViewContext): Html => {
  if (newer === undefined && older === undefined) return nothing;
  const link = (text: string, rel: string, from: object): Html =>
    html`<a href="${linkOf(context, chosen, from)}" rel="${rel}">${text}</a>`;
  return html`<p class="choice">
    ${newer === undefined ? nothing : html`${link('newest', 'first', {})} ${link('newer', 'prev', { newer: writePlace(newer) })}`}
    ${older === undefined ? nothing : link('older', 'next', { older: writePlace(older) })}
  </p>`;
};

const choiceOf = ({ state: chosen, pipeline }: Chosen, context: ViewContext): Html => {
  const { href } = context;
  const link = (text: string, state?: ShownState): Html =>
    choiceLink(text, linkOf(context, { state, pipeline }), state === chosen);
  return html`<p class="choice">
    ${pipeline === null ? nothing : html`Pipeline <b>${pipeline}</b> <a href="${href('/runs')}">all pipelines</a> · `}${link('all')}${states.map((state) => link(state, state))}
  </p>`;
};

export const runsView: MakeView = async (context) => {
  const { client, query } = context;
  const pipeline = query.get('pipeline');
  const state = states.find((one) => one === query.get('state'));
  const chosen: Chosen = { state, pipeline };
  const found = await runsPage(client, {
    limit: runsOfPage,
    pipeline: pipeline ?? undefined,
    state,
    from: readFrom(query),
  });
  const { runs } = found;
  const wanted = { limit: failuresShown, pipeline: pipeline ?? undefined };
  const areFailuresShown = (state === undefined || state === 'failed') && readFrom(query) === undefined;
  const failures = areFailuresShown ? await listFailures(client, wanted) : [];
  return {
    title: 'Runs',
    place: 'runs',
    freshMs: runs.some(isUnderWay) ? busyMs : calmMs,
    sections: [
      { id: 'choice', body: choiceOf(chosen, context) },
      {
        id: 'runs',
        body: html`${table(runColumns(context), runs, { caption: 'Runs', none: 'No runs found.' })}
        ${turnOf(found, chosen, context)}`,
      },
      ...failureSections('Failures before a run began', failures, context),
    ],
  };
};
