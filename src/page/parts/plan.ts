// The plan of a run, table by table, and its notices.

import type { Notice, PlannedRows, RunStory } from '../../ledger/run/run-story.ts';
import { formatCount, plural } from '../../core/wording.ts';
import type { Section } from './view.ts';
import { html, nothing, time, type Html } from './html.ts';
import { table, type Column } from './table.ts';

type PlannedRow = PlannedRows['rows'][number];

const planColumns: readonly Column<PlannedRow>[] = [
  { title: 'Step', cell: ([label]) => label },
  { title: 'How', cell: ([, text]) => html`<span class="lines">${text}</span>`, isLong: true },
];

/** How the table is published, with the rest folded away. */
const plannedTable = ({ table: name, isDerived, rows }: PlannedRows, place: number): Html => {
  const [, published] = rows.find(([label]) => label === 'publish') ?? [];
  return html`<details id="plan-${place + 1}">
    <summary>
      <b>${name}</b>${isDerived ? ', derived' : ''}${published === undefined ? '' : `: ${published}`}
    </summary>
    ${table(planColumns, rows, { caption: `What was planned for ${name}` })}
  </details>`;
};

const noticeColumns: readonly Column<Notice>[] = [
  { title: 'When', cell: ({ at }) => time(new Date(at)) },
  { title: 'Notice', cell: ({ text }) => html`<span class="lines">${text}</span>`, isLong: true },
];

/** Nothing of a run that was never planned, such as one that puts an earlier version back. */
export const planSections = ({ plan }: Pick<RunStory, 'plan'>): readonly Section[] => {
  if (plan.tables.length === 0) return [];
  const more =
    plan.rowsCut === 0
      ? nothing
      : html`<p class="dim">${plural(plan.rowsCut, 'more line')} of the plan, which were not kept.</p>`;
  return [
    {
      id: 'plan',
      title: 'Plan',
      body: html`${plan.tables.map(plannedTable)}${more}`,
    },
  ];
};

export const noticeSections = ({ notices, said }: Pick<RunStory, 'notices' | 'said'>): readonly Section[] => {
  if (notices.length === 0) return [];
  const more =
    said <= notices.length
      ? nothing
      : html`<p class="dim">The newest ${notices.length} of ${formatCount(said)} notices.</p>`;
  return [
    {
      id: 'notices',
      title: 'Notices',
      body: html`${table(noticeColumns, notices, { caption: 'What the run said' })}${more}`,
    },
  ];
};
