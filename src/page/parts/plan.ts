// The section of a run's page with its plan.

import type { PlannedRows, RunStory } from '../../ledger/run/run-story.ts';
import { plural } from '../../core/wording.ts';
import type { Section } from './view.ts';
import { html, nothing, type Html } from './html.ts';
import { table, type Column } from './table.ts';

type PlannedRow = PlannedRows['rows'][number];

const planColumns: readonly Column<PlannedRow>[] = [
  { title: 'Step', cell: ([label]) => label },
  { title: 'How', cell: ([, text]) => html`<span class="lines">${text}</span>`, isLong: true },
];

const plannedTable = ({ table: name, isDerived, rows }: PlannedRows, index: number): Html => {
  const [, published] = rows.find(([label]) => label === 'publish') ?? [];
  return html`<details id="plan-${index + 1}">
    <summary>
      <b>${name}</b>${isDerived ? ', derived' : ''}${published === undefined ? '' : `: ${published}`}
    </summary>
    ${table(planColumns, rows, { caption: `Plan of ${name}` })}
  </details>`;
};

export const planSections = ({ plan }: Pick<RunStory, 'plan'>): readonly Section[] => {
  if (plan.tables.length === 0) return [];
  const more =
    plan.rowsCut === 0
      ? nothing
      : html`<p class="dim">And ${plural(plan.rowsCut, 'more line')}, which were not stored.</p>`;
  return [
    {
      id: 'plan',
      title: 'Plan',
      body: html`${plan.tables.map(plannedTable)}${more}`,
    },
  ];
};
