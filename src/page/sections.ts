// The section of actions of a run or schedule: links to possible actions, and past actions.

import { listActions, runInShort, type RecordedAction } from '../ledger/history/actions.ts';
import type { Schedule } from '../worker/schedule/contract.ts';
import { listSchedules } from '../worker/schedule/list.ts';
import { html, nothing, time, type Html } from './parts/html.ts';
import { isUnderWay } from '../report/run-words.ts';
import { badge } from './parts/state.ts';
import { pathPart } from './actions.ts';
import { table, type Column } from './parts/table.ts';
import { busyMs, type MakeView, type ViewContext } from './parts/view.ts';

const actionsShown = 20;

export const actionLink = (
  { href }: Pick<ViewContext, 'href'>,
  kind: keyof typeof pathPart,
  subject: string,
  action: string,
  text: string,
): Html =>
  html`<a class="button" href="${href(`/${pathPart[kind]}/${encodeURIComponent(subject)}/${action}`)}"
    >${text}</a
  >`;

export const outcomeOf = ({ endedAt, errorCode, detail }: RecordedAction): Html => {
  if (endedAt === null) return badge('busy', 'under way, or its process has ended');
  return errorCode === null
    ? html`${badge('good', 'done')} ${detail ?? ''}`
    : html`${badge('bad', 'refused')} <code class="bad">${errorCode}</code> ${detail ?? ''}`;
};

export const whoOf = ({ person, visitor, address }: RecordedAction): string =>
  [person ?? `visitor ${visitor}`, ...(address === null ? [] : [`from ${address}`])].join(' ');

export const subjectOf = ({ kind, subject }: RecordedAction, { href }: ViewContext): Html => {
  if (kind === 'run') return html`<a href="${href(`/runs/${subject}`)}">run ${subject}</a>`;
  if (kind === 'schedule')
    return html`<a href="${href(`/schedules/${encodeURIComponent(subject)}`)}">schedule ${subject}</a>`;
  return html`${kind} ${subject}`;
};

export const actionColumns = (context: ViewContext): readonly Column<RecordedAction>[] => [
  {
    title: 'When',
    cell: (one) => html`<a href="${context.href(`/actions/${one.id}`)}">${time(one.askedAt)}</a>`,
  },
  { title: 'Action', cell: (one) => html`${one.action} ${subjectOf(one, context)}` },
  { title: 'Who', cell: whoOf },
  { title: 'Outcome', cell: outcomeOf, isLong: true },
];

/** Time after which an action without an outcome counts as interrupted. */
const actionMs = 60_000;

export const freshOf = (done: readonly RecordedAction[], { now }: ViewContext, freshMs: number): number =>
  done.some(({ endedAt, askedAt }) => endedAt === null && now.getTime() - askedAt.getTime() < actionMs)
    ? Math.min(freshMs, busyMs)
    : freshMs;

export const scheduleLinks = (
  context: Pick<ViewContext, 'href'>,
  { name, paused }: Pick<Schedule, 'name' | 'paused'>,
): Html[] => [
  actionLink(context, 'schedule', name, 'run', 'Run now …'),
  paused
    ? actionLink(context, 'schedule', name, 'resume', 'Resume …')
    : actionLink(context, 'schedule', name, 'pause', 'Pause …'),
];

const linksOf = async (context: ViewContext, kind: 'run' | 'schedule', subject: string): Promise<Html[]> => {
  if (kind === 'run') {
    const run = await runInShort(context.client, Number(subject));
    if (run === undefined) return [];
    if (isUnderWay(run)) return [actionLink(context, kind, subject, 'cancel', 'Cancel …')];
    const isRetryable = run.state === 'failed' || run.state === 'cancelled';
    return isRetryable ? [actionLink(context, kind, subject, 'retry', 'Retry …')] : [];
  }
  const found = (await listSchedules(context.client)).find(({ name }) => name === subject);
  if (found === undefined) return [];
  return scheduleLinks(context, found);
};

export const withActions =
  (kind: 'run' | 'schedule', make: MakeView): MakeView =>
  async (context) => {
    const view = await make(context);
    const subject = kind === 'run' ? String(Number(context.parts[0])) : String(context.parts[0]);
    const links = context.control === undefined ? [] : await linksOf(context, kind, subject);
    const done = await listActions(context.client, { kind, subject, limit: actionsShown });
    if (links.length + done.length === 0) return view;
    const caption = 'Actions of visitors';
    const body = html`${links.length === 0 ? nothing : html`<p class="actions">${links}</p>`}
    ${done.length === 0 ? nothing : table(actionColumns(context), done, { caption, isCaptionHidden: false })}`;
    const [first, ...others] = view.sections;
    const section = { id: 'actions', title: 'Actions', body };
    const sections = first === undefined ? [section] : [first, section, ...others];
    return { ...view, sections, freshMs: freshOf(done, context, view.freshMs) };
  };
