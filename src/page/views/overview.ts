// The first page: a row per pipeline, with its newest run, next slot and trends.

import { formatSeconds } from '../../core/amounts.ts';
import { listPipelines, type PipelineSummary } from '../../ledger/history/overview.ts';
import type { RunSummary } from '../../ledger/history/history.ts';
import { formatCount } from '../../core/wording.ts';
import type { Schedule } from '../../worker/schedule/contract.ts';
import { listSchedules } from '../../worker/schedule/list.ts';
import { ago, until } from '../parts/amount.ts';
import { failureSections } from '../parts/failures.ts';
import { heldSections } from '../parts/held.ts';
import { html, nothing, time, type Html } from '../parts/html.ts';
import { isUnderWay } from '../../report/run-words.ts';
import { badge, stateBadge } from '../parts/state.ts';
import { tableSection, type Column } from '../parts/table.ts';
import { smallPicture, type Rect } from '../parts/svg.ts';
import { busyMs, calmMs, withQuery, type MakeView, type ViewContext } from '../parts/view.ts';

const barWidth = 6;
const barHeightMax = 26;

/** Draws the oldest run first. The value of a run under way may be null. */
const trendOf = (
  name: string,
  { runs }: PipelineSummary,
  valueOf: (run: RunSummary) => number | null,
  textOf: (value: number) => string,
): Html => {
  const most = Math.max(...runs.map((run) => valueOf(run) ?? 0), 1e-9);
  const rects = runs.toReversed().map((run, index): Rect => {
    const value = valueOf(run);
    const isFailed = run.state === 'failed';
    const height = Math.max(1, Math.round(((value ?? 0) / most) * barHeightMax));
    return {
      colour: isFailed ? 'lost' : 'loaded',
      x: index * (barWidth + 1),
      y: barHeightMax - height,
      width: barWidth,
      height,
      title: `run ${run.id}: ${value === null ? 'under way' : textOf(value)}${isFailed ? ', failed' : ''}`,
    };
  });
  const labels = rects.map(({ title }) => title).join('; ');
  const width = Math.max(1, rects.length * (barWidth + 1) - 1);
  return smallPicture({ width, height: barHeightMax, name: `${name}: ${labels}` }, rects);
};

const nextOf = (pipeline: string, schedules: readonly Schedule[], now: Date): Html => {
  const own = schedules.filter((schedule) => schedule.pipeline === pipeline);
  if (own.length === 0) return html`<span class="dim">no schedule</span>`;
  const next = own
    .filter(({ paused }) => !paused)
    .flatMap(({ next: slots }) => slots.slice(0, 1))
    .map((slot) => new Date(slot))
    .sort((one, other) => one.getTime() - other.getTime())[0];
  return next === undefined ? badge('idle', 'paused') : html`${until(next, now)}<br />${time(next)}`;
};

const pipelineColumns = (
  { href, now }: ViewContext,
  schedules: readonly Schedule[],
): readonly Column<PipelineSummary>[] => [
  {
    title: 'Pipeline',
    cell: ({ pipeline }) =>
      html`<a class="name" href="${href(withQuery('/runs', { pipeline }))}">${pipeline}</a>`,
  },
  {
    title: 'Last run',
    cell: ({ runs: [run] }) =>
      run &&
      html`<a href="${href(`/runs/${run.id}`)}">${run.id}</a> ${stateBadge(run)}${
          run.errorCode === null ? nothing : html`<br /><code class="bad">${run.errorCode}</code>`
        }`,
  },
  {
    title: 'Started',
    cell: ({ runs: [run] }) => run && html`${ago(run.startedAt, now)}<br />${time(run.startedAt)}`,
  },
  {
    title: 'Fresh as of',
    cell: ({ publishedAt }) =>
      publishedAt === null
        ? html`<span class="dim">never published</span>`
        : html`${ago(publishedAt, now)}<br />${time(publishedAt)}`,
  },
  { title: 'Next slot', cell: ({ pipeline }) => nextOf(pipeline, schedules, now) },
  {
    title: 'Records',
    cell: (one) =>
      trendOf(
        'records',
        one,
        ({ records }) => records,
        (count) => `${formatCount(count)} records`,
      ),
  },
  {
    title: 'Rejects',
    cell: (one) =>
      trendOf(
        'rejects',
        one,
        ({ rejected }) => rejected,
        (count) => `${formatCount(count)} rejects`,
      ),
  },
  {
    title: 'Time',
    cell: (one) => trendOf('time', one, ({ seconds }) => seconds, formatSeconds),
  },
];

export const overview: MakeView = async (context) => {
  const pipelines = await listPipelines(context.client);
  const schedules = await listSchedules(context.client);
  const columns = pipelineColumns(context, schedules);
  const none = 'No pipeline was run on this database yet.';
  return {
    title: 'Overview',
    place: 'overview',
    freshMs: pipelines.some(({ runs: [run] }) => run && isUnderWay(run)) ? busyMs : calmMs,
    sections: [
      tableSection('pipelines', 'Pipelines', columns, pipelines, none),
      ...(await heldSections(context)),
      ...(await failureSections(context, { title: 'Host', cell: ({ host }) => host })),
    ],
  };
};
