// The first page: a row per pipeline, failed pipelines first, with its newest attempt, next slot
// and trends.

import { formatSeconds } from '../../core/amounts.ts';
import { listPipelines, newestRuns, type PipelineHead } from '../../ledger/history/overview.ts';
import type { RunFailure } from '../../core/model.ts';
import { failuresShown, listFailures } from '../../ledger/run/failure.ts';
import type { RunSummary } from '../../ledger/history/history.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { listSlotsSeen, type SlotsSeen } from '../../worker/schedule/late.ts';
import { codeLink } from '../parts/error-page.ts';
import { failureSections } from '../parts/failures.ts';
import { heldSections } from '../parts/held.ts';
import { aged, html, nothing, time, type Html } from '../parts/html.ts';
import { choiceLink, pagesOf, readFirst } from '../parts/pages.ts';
import { isUnderWay, lossOf, stateName } from '../../report/run-words.ts';
import { badge, stateBadge, type Tone } from '../parts/state.ts';
import { table, type Column } from '../parts/table.ts';
import { smallPicture, type Rect } from '../parts/svg.ts';
import { busyMs, calmMs, withQuery, type MakeView, type ViewContext } from '../parts/view.ts';

/** Groups of pipelines, the most urgent first. A pipeline is in the first group that applies. */
const groups = {
  failed: 'bad',
  late: 'warn',
  'with files held back': 'warn',
  stopped: 'warn',
  running: 'busy',
  fine: 'good',
} as const satisfies Record<string, Tone>;
type Group = keyof typeof groups;
const groupNames = Object.keys(groups) as readonly Group[];

interface Row extends PipelineHead {
  readonly group: Group;
  /** Slots of its schedules, the next one first. */
  readonly slots: readonly SlotsSeen[];
}

const lateOf = ({ slots }: Pick<Row, 'slots'>): Date | null =>
  slots.find(({ late }) => late !== null)?.late ?? null;

const groupOf = ({ run, failing, held, slots }: Omit<Row, 'group'>): Group => {
  if (failing !== null || (run !== null && lossOf(run) !== undefined)) return 'failed';
  if (lateOf({ slots }) !== null) return 'late';
  if (held > 0) return 'with files held back';
  if (run?.state === 'cancelled') return 'stopped';
  return run !== null && isUnderWay(run) ? 'running' : 'fine';
};

/** Sorts by group; pipelines that are not fine by their newest attempt, the others by name. */
const sorted = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((one, other) => {
    const groupsApart = groupNames.indexOf(one.group) - groupNames.indexOf(other.group);
    if (groupsApart !== 0) return groupsApart;
    const apart = one.group === 'fine' ? 0 : other.attemptAt.getTime() - one.attemptAt.getTime();
    return apart !== 0 ? apart : one.pipeline < other.pipeline ? -1 : 1;
  });

const barWidth = 6;
const barHeightMax = 26;

/** Draws the oldest run first. The value of a run under way may be null. */
const trendOf = (
  name: string,
  runs: readonly RunSummary[],
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
  const newest = rects.at(-1)?.title ?? 'no run';
  const width = Math.max(1, rects.length * (barWidth + 1) - 1);
  return smallPicture({ width, height: barHeightMax, name: `${name} of ${newest}` }, rects);
};

const nextOf = ({ slots: [first], slots }: Row): Html => {
  if (first === undefined) return html`<span class="dim">no schedule</span>`;
  const active = slots.find(({ paused }) => !paused);
  return active === undefined ? badge('idle', 'paused') : aged(active.next);
};

const reasonCharsMax = 120;

const reasonOf = (error: string): Html => {
  const line = error.replaceAll(/\s+/g, ' ');
  const text = line.length > reasonCharsMax ? `${line.slice(0, reasonCharsMax)}…` : line;
  return html`<span class="why">${text}</span>`;
};

/** Lets a narrow window break a name after each `_`. */
const breakable = (name: string): readonly Html[] =>
  name.split('_').map((part, index) => (index === 0 ? html`${part}` : html`_<wbr />${part}`));

const stateOf = (row: Row, { href }: Pick<ViewContext, 'href'>): Html => {
  const { pipeline, run, failing, held } = row;
  const late = lateOf(row);
  const runLink = (id: number): Html => html`<a href="${href(`/runs/${id}`)}">run ${id}</a>`;
  const attempts = href(withQuery('/runs', { pipeline }));
  const parts = [
    ...(failing === null || failing.run === run?.id
      ? []
      : failing.run === null
        ? [html`${badge('bad', 'failed before a run')} <a href="${attempts}#failures">attempts</a>`]
        : [html`${badge('bad', 'failed')} ${runLink(failing.run)}`]),
    ...(run === null
      ? []
      : failing === null || failing.run === run.id || isUnderWay(run)
        ? [html`${stateBadge(run)} ${runLink(run.id)}`]
        : [html`<span class="dim">newest run:</span> ${stateName(run)}, ${runLink(run.id)}`]),
    ...(late === null ? [] : [html`${badge('warn', 'late')} since ${time(late)}`]),
    ...(held === 0
      ? []
      : [
          html`<a href="${href(withQuery('/files', { pipeline }))}#held"
            >${badge('warn', `${plural(held, 'file')} held back`)}</a
          >`,
        ]),
  ];
  const reason =
    failing === null ? nothing : html`<br />${codeLink(failing.errorCode, href)} ${reasonOf(failing.error)}`;
  return html`${parts.map((part) => html`${part} `)}${reason}`;
};

const pipelineColumns = (
  context: ViewContext,
  runsOf: ReadonlyMap<string, readonly RunSummary[]>,
): readonly Column<Row>[] => {
  const trend = (
    title: string,
    valueOf: (run: RunSummary) => number | null,
    textOf: (value: number) => string,
  ): Column<Row> => ({
    title,
    cell: ({ pipeline }) => trendOf(title, runsOf.get(pipeline) ?? [], valueOf, textOf),
    isWide: true,
  });
  return [
    {
      title: 'Pipeline',
      cell: ({ pipeline }) =>
        html`<a class="name" href="${context.href(withQuery('/runs', { pipeline }))}"
          >${breakable(pipeline)}</a
        >`,
    },
    { title: 'Newest attempt', cell: (row) => stateOf(row, context), isLong: true },
    { title: 'When', cell: (row) => aged(row.attemptAt) },
    {
      title: 'Fresh as of',
      cell: ({ succeededAt }) =>
        succeededAt === null ? html`<span class="dim">never published</span>` : aged(succeededAt),
      isWide: true,
    },
    { title: 'Next slot', cell: nextOf, isWide: true },
    trend(
      'Records',
      ({ records }) => records,
      (count) => `${formatCount(count)} records`,
    ),
    trend(
      'Rejects',
      ({ rejected }) => rejected,
      (count) => `${formatCount(count)} rejects`,
    ),
    trend('Time', ({ seconds }) => seconds, formatSeconds),
  ];
};

const rowsOfPage = 100;

interface Chosen {
  readonly state: Group | undefined;
  readonly name: string;
}

const linkOf = ({ href }: ViewContext, { state, name }: Partial<Chosen>, first = 0): string =>
  href(withQuery('/', { state, name, first }));

/** Counts of the groups, each a link that shows only this group, and a search by name. */
const choiceOf = (rows: readonly Row[], { state, name }: Chosen, context: ViewContext): Html => {
  const counts = groupNames.map(
    (group) => [group, rows.filter((row) => row.group === group).length] as const,
  );
  const links = counts
    .filter(([group, count]) => count > 0 || group === 'failed' || group === state)
    .map(([group, count]) => {
      const text = badge(count === 0 ? 'idle' : groups[group], `${formatCount(count)} ${group}`);
      return choiceLink(text, linkOf(context, { state: group, name }), group === state);
    });
  return html`<div class="choice">
    ${choiceLink(`all ${formatCount(rows.length)}`, linkOf(context, { name }), state === undefined)}${links}
    <form class="search" role="search" action="${context.href('/')}">
      ${state === undefined ? nothing : html`<input type="hidden" name="state" value="${state}" />`}
      <label>Name <input name="name" value="${name}" /></label> <button>Search</button>
    </form>
  </div>`;
};

const dayMs = 86_400_000;

/** Lists failures whose pipeline is unknown. No success can show that the fault was corrected. */
const unknownFailures = async ({ client, now }: ViewContext): Promise<readonly RunFailure[]> => {
  const since = new Date(now.getTime() - dayMs);
  const failures = await listFailures(client, { limit: failuresShown, since, areCurrent: true });
  return failures.filter(({ pipeline }) => pipeline === null);
};

export const overview: MakeView = async (context) => {
  const { client, query } = context;
  const pipelines = await listPipelines(client);
  const seen = await listSlotsSeen(client);
  const rows = sorted(
    pipelines.map((head) => {
      const row = { ...head, slots: seen.filter(({ pipeline }) => pipeline === head.pipeline) };
      return { ...row, group: groupOf(row) };
    }),
  );
  const chosen = {
    state: groupNames.find((one) => one === query.get('state')),
    name: query.get('name') ?? '',
  };
  const named = rows.filter(({ pipeline }) => pipeline.toLowerCase().includes(chosen.name.toLowerCase()));
  const wanted = named.filter(({ group }) => chosen.state === undefined || group === chosen.state);
  const first = readFirst(query.get('first'));
  const shown = wanted.slice(first, first + rowsOfPage);
  const runsOf = await newestRuns(
    client,
    shown.map(({ pipeline }) => pipeline),
  );
  const none = rows.length === 0 ? 'No pipeline was run on this database yet.' : 'No such pipeline.';
  const range = { first, shown: shown.length, size: rowsOfPage, total: wanted.length };
  return {
    title: 'Overview',
    place: 'overview',
    freshMs: rows.some(({ run }) => run && isUnderWay(run)) ? busyMs : calmMs,
    sections: [
      { id: 'choice', body: choiceOf(named, chosen, context) },
      ...failureSections(
        'Failures before a run began, of unknown pipelines',
        await unknownFailures(context),
        context,
      ),
      {
        id: 'pipelines',
        body: html`${table(pipelineColumns(context, runsOf), shown, { caption: 'Pipelines', none })}
        ${pagesOf({ what: 'pipelines', ...range }, (from) => linkOf(context, chosen, from))}`,
      },
      ...(await heldSections(context)),
    ],
  };
};
