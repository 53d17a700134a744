// The page of schedules: when they are due next, and a calendar with the outcomes of their slots.

import { calendarOf, type CalendarSlots, type SlotFate } from '../../ledger/history/calendar.ts';
import { dueText } from '../../core/due-text.ts';
import type { Schedule } from '../../worker/schedule/contract.ts';
import { listSchedules } from '../../worker/schedule/list.ts';
import { scheduleLinks } from '../sections.ts';
import { aged, html, type Html } from '../parts/html.ts';
import { badge, sign, type Tone } from '../parts/state.ts';
import { table, type Column } from '../parts/table.ts';
import { busyMs, calmMs, type MakeView, type Section, type ViewContext } from '../parts/view.ts';

const daysBack = 14;
const daysAhead = 2;

const dayMs = 86_400_000;

const toneOf: Readonly<Record<SlotFate, Tone>> = {
  loaded: 'good',
  'under way': 'busy',
  failed: 'bad',
  skipped: 'warn',
  missed: 'bad',
};

const newestOf = ({ lastOutcome, jobState }: Schedule): Html => {
  if (jobState === 'published' || jobState === 'unchanged') return badge('good', jobState);
  if (jobState === 'pending' || jobState === 'enqueued') return badge('busy', 'enqueued');
  if (jobState !== null) return html`${badge('bad', 'failed')} <code class="bad">${jobState}</code>`;
  return lastOutcome === null ? html`<span class="dim">none yet</span>` : badge('warn', lastOutcome);
};

const timesOf = (schedule: Schedule): Html =>
  schedule.cron === null
    ? html`${dueText(schedule)}`
    : html`<code>${schedule.cron}</code><br />${schedule.timeZone}`;

const nextOf = ({ paused, next, lookError }: Schedule): Html => {
  if (paused) return badge('idle', 'paused');
  if (lookError !== null) return html`${badge('bad', 'cannot list')} <code class="bad">${lookError}</code>`;
  return next.length === 0 ? html`<span class="dim">when files arrive</span>` : aged(new Date(next[0]!));
};

const scheduleColumns = (context: ViewContext): readonly Column<Schedule>[] => [
  {
    title: 'Schedule',
    cell: ({ name }) =>
      html`<a class="name" href="${context.href(`/schedules/${encodeURIComponent(name)}`)}">${name}</a>`,
  },
  { title: 'Pipeline', cell: ({ pipeline }) => pipeline },
  { title: 'Times', cell: timesOf },
  { title: 'Next slot', cell: nextOf },
  { title: 'Newest run', cell: newestOf },
  { title: 'Queue', cell: ({ queue }) => queue },
  ...(context.control === undefined
    ? []
    : [{ title: 'Actions', cell: (schedule: Schedule) => scheduleLinks(context, schedule) }]),
  { title: 'Missed slots', cell: ({ catchUp }) => (catchUp ? 'caught up by one run' : 'left out') },
];

const daysOf = (now: Date): readonly string[] =>
  Array.from({ length: daysBack + daysAhead }, (_, index) =>
    new Date(now.getTime() + (index - daysBack + 1) * dayMs).toISOString().slice(0, 10),
  );

const fates: readonly (readonly [string, Tone])[] = [...Object.entries(toneOf), ['to come', 'idle']];

const cellOf = (
  { name, paused, next }: Schedule,
  day: string,
  slots: readonly CalendarSlots[],
  href: ViewContext['href'],
): readonly Html[] => {
  const past = slots
    .filter((each) => each.schedule === name && each.day === day)
    .map(({ fate, slots: count, run }) => {
      const shown = sign(toneOf[fate], fate, count);
      return run === null ? shown : html`<a class="sign" href="${href(`/runs/${run}`)}">${shown}</a>`;
    });
  const coming = paused ? 0 : next.filter((slot) => slot.startsWith(day)).length;
  return coming === 0 ? past : [...past, sign('idle', 'to come', coming)];
};

const calendar = (
  schedules: readonly Schedule[],
  slots: readonly CalendarSlots[],
  { now, href }: ViewContext,
): Section => ({
  id: 'calendar',
  title: 'Outcomes of slots',
  body: html`${table<Schedule>(
      [
        { title: 'Schedule', cell: ({ name }) => name },
        ...daysOf(now).map((day) => ({
          title: day.slice(5),
          cell: (schedule: Schedule) => cellOf(schedule, day, slots, href),
        })),
      ],
      schedules,
      { caption: 'Slots of each day' },
    )}
    <ul class="legend">
      ${fates.map(([fate, tone]) => html`<li>${badge(tone, fate)}</li>`)}
    </ul>
    <p class="dim">Days are in each schedule’s time zone. A number counts the slots of a day.</p>`,
});

export const schedulesView: MakeView = async (context) => {
  const schedules = await listSchedules(context.client);
  const slots = await calendarOf(context.client, daysBack);
  const none = 'There are no schedules.';
  return {
    title: 'Schedules',
    place: 'schedules',
    freshMs: slots.some(({ fate }) => fate === 'under way') ? busyMs : calmMs,
    sections: [
      { id: 'schedules', body: table(scheduleColumns(context), schedules, { caption: 'Schedules', none }) },
      ...(schedules.length === 0 ? [] : [calendar(schedules, slots, context)]),
    ],
  };
};
