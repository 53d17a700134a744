// The page of all actions and of pipelines to run, and the page of one action.

import { listActions } from '../../ledger/history/actions.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { actionColumns, actionLink, freshOf, outcomeOf, subjectOf, whoOf } from '../sections.ts';
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
        : html`<span class="dim">only by the command line</span>`,
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
  const none = 'No actions yet.';
  return {
    title: 'Actions',
    place: 'actions',
    freshMs: freshOf(done, context, calmMs),
    sections: [
      ...(await pipelinesSection(context)),
      tableSection('done', 'Actions of visitors', actionColumns(context), done, none),
    ],
  };
};

export const actionView: MakeView = async (context) => {
  const id = Number(context.parts[0]);
  const [found] = await listActions(context.client, { id, limit: 1 });
  if (found === undefined)
    throw new EtlError('ETL_USAGE', {
      problem: `there is no action ${id}`,
      hint: 'Only the newest 10,000 actions are kept.',
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
