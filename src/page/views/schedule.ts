// The page of one schedule: its newest slots with their outcomes and runs.

import type { ScheduleSlot } from '../../worker/schedule/contract.ts';
import { listSlots } from '../../worker/schedule/list.ts';
import { html, time, type Html } from '../parts/html.ts';
import { badge } from '../parts/state.ts';
import { tableSection, type Column } from '../parts/table.ts';
import { calmMs, type MakeView, type ViewContext } from '../parts/view.ts';

const slotsListed = 200;

const outcomeOf = ({ outcome, first }: ScheduleSlot): Html => {
  if (outcome === 'missed') return badge('bad', 'missed');
  if (outcome === 'skipped') return badge('warn', 'skipped: a run was waiting or active');
  const since = first === null ? '' : ', for all slots since';
  return html`${badge('busy', `${outcome}${since}`)}${first === null ? '' : html` ${time(first)}`}`;
};

const endOf = ({ state, job }: ScheduleSlot): Html => {
  if (job === null) return html`<span class="dim">–</span>`;
  if (state === null) return badge('busy', 'not ended');
  return state === 'published' || state === 'unchanged'
    ? badge('good', state)
    : html`${badge('bad', 'failed')} <code class="bad">${state}</code>`;
};

const columns = ({ href }: ViewContext): readonly Column<ScheduleSlot>[] => [
  { title: 'Slot', cell: ({ slot }) => time(slot) },
  { title: 'Outcome', cell: outcomeOf },
  { title: 'How its run ended', cell: endOf },
  {
    title: 'Run',
    cell: ({ run }) => (run === null ? '–' : html`<a href="${href(`/runs/${run}`)}">${run}</a>`),
    isNumber: true,
  },
  { title: 'Job', cell: ({ job }) => job ?? '–', isLong: true },
];

export const scheduleView: MakeView = async (context) => {
  const [part = ''] = context.parts;
  const slots = await listSlots(context.client, part, slotsListed);
  return {
    title: `Schedule ${part}`,
    place: 'schedules',
    freshMs: calmMs,
    sections: [tableSection('slots', 'Newest slots', columns(context), slots, 'No slot was due yet.')],
  };
};
