// What visitors did with the page, one action or the newest ones; and pipelines that a visitor can run.

import { listActions } from '../../ledger/history/actions.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { actionColumns, actionLink, freshOf, outcomeOf, subjectOf, whoOf } from '../control/sections.ts';
import { fact, html, time, type Html } from '../parts/html.ts';
import { tableSection, type Column } from '../parts/table.ts';
import { calmMs, type MakeView, type Section, type ViewContext } from '../parts/view.ts';

const actionsListed = 100;

const pipelineColumns = (context: ViewContext): readonly Column<string>[] => [
  { title: 'Pipeline', cell: (name) => name },
  {
    title: 'Action',
    cell: (name): Html =>
      /^[\w-]{1,80}$/.test(name)
        ? actionLink(context, 'pipeline', name, 'run', 'Run now …')
        : html`<span class="dim">by the command line only</span>`,
  },
];

const pipelinesSection = async (context: ViewContext): Promise<readonly Section[]> => {
  if (context.control === undefined) return [];
  const names = await context.control.pipelines();
  if (names.length === 0) return [];
  return [tableSection('pipelines', 'Pipelines', pipelineColumns(context), names)];
};

export const actionsView: MakeView = async (context) => {
  const done = await listActions(context.client, { limit: actionsListed });
  const none = 'Nothing was done from this page yet.';
  return {
    title: 'Actions',
    place: 'actions',
    freshMs: freshOf(done, context, calmMs),
    sections: [
      ...(await pipelinesSection(context)),
      tableSection('done', 'What was done from here', actionColumns(context), done, none),
    ],
  };
};

/** One action: where a visitor lands who has sent its form. */
export const actionView: MakeView = async (context) => {
  const id = Number(context.parts[0]);
  const [found] = await listActions(context.client, { id, limit: 1 });
  if (found === undefined)
    throw new EtlError('ETL_USAGE', {
      problem: `no action ${id} is known`,
      hint: 'The newest 10,000 are kept.',
    });
  const facts = html`<p>${outcomeOf(found)}</p>
    <dl class="facts">
      ${fact('Action', html`${found.action} ${subjectOf(found, context)}`)} ${fact('Who', whoOf(found))}
      ${fact('When', time(found.askedAt))}
    </dl>`;
  return {
    title: `Action ${id}: ${found.action} ${found.kind} ${found.subject}`,
    place: 'actions',
    freshMs: freshOf([found], context, calmMs),
    sections: [{ id: 'action', body: facts }],
  };
};
