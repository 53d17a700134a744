// The page of a run's rejects: the kinds of faults, and the records with their wrong fields marked.

import type { RunSummary } from '../../ledger/history/history.ts';
import { findSummary } from '../../ledger/history/history.ts';
import { markedFields } from '../../ledger/rejects/reject-records.ts';
import {
  newestRejectedRun,
  rejectsAfter,
  type PlacedReject,
  type RejectPlace,
} from '../../ledger/rejects/reject-page.ts';
import { faultKinds, type FaultKind } from '../../ledger/rejects/store.ts';
import { formatCount, linesOf, plural } from '../../core/wording.ts';
import { share } from '../parts/amount.ts';
import { html, nothing, time, type Html } from '../parts/html.ts';
import { isUnderWay } from '../../report/run-words.ts';
import { badge } from '../parts/state.ts';
import { table, type Column } from '../parts/table.ts';
import { busyMs, calmMs, withQuery, type MakeView, type ViewContext } from '../parts/view.ts';

const recordsShown = 25;
const kindsShown = 50;
/** Rejects that are grouped into kinds of faults, not more: grouping a million takes seconds. */
const kindsWithin = 20_000;

interface Chosen {
  readonly run: RunSummary;
  readonly table: string | null;
  readonly code: string | null;
  readonly column: string | null;
}

const linkOf = ({ href }: ViewContext, { run, ...narrowed }: Chosen, after?: RejectPlace): string => {
  const place = after && JSON.stringify([after.table, after.fileId, after.byte, after.id]);
  return href(withQuery('/rejects', { run: run.id, ...narrowed, after: place }));
};

/** Anybody can write the URL's query, so the position may be anything. */
const readPlace = (text: string | null): RejectPlace | undefined => {
  try {
    const [name, fileId, byte, id]: unknown[] = JSON.parse(text ?? '');
    const numbers = [fileId, byte, id].map(Number);
    if (typeof name !== 'string' || !numbers.every((number) => Number.isSafeInteger(number)))
      return undefined;
    return { table: name, fileId: numbers[0]!, byte: numbers[1]!, id: numbers[2]! };
  } catch {
    return undefined;
  }
};

const kindColumns = (context: ViewContext, chosen: Chosen): readonly Column<FaultKind>[] => [
  { title: 'Records', cell: ({ count }) => formatCount(count), isNumber: true },
  { title: 'Table', cell: (kind) => kind.table },
  {
    title: 'Column',
    cell: ({ column }) => (column === null ? html`<span class="dim">record</span>` : column),
  },
  {
    title: 'Code',
    cell: (kind) =>
      html`<a
        href="${linkOf(context, { run: chosen.run, table: kind.table, code: kind.code, column: kind.column })}"
        ><code>${kind.code}</code></a
      >`,
  },
  { title: 'First reason', cell: ({ reason }) => reason, isLong: true },
  { title: 'First place', cell: ({ file, line, lastLine }) => linesOf(file, line, lastLine), isLong: true },
];

const fieldsOf = (reject: PlacedReject): Html => {
  const fields = reject.format === null ? null : markedFields(reject, reject.header, reject.format);
  if (fields === null) return html`<pre class="raw">${reject.raw}</pre>`;
  const columns = fields.map(({ name, text, isAtFault }) => ({
    title: name,
    cell: () => (isAtFault ? html`<mark>${text === '' ? '(empty)' : text}</mark>` : text),
  }));
  const caption = `Fields of the record at byte ${reject.byte} of ${reject.file}`;
  return table(columns, [reject], { caption });
};

const rejectOf = (reject: PlacedReject): Html => {
  const faults = [reject, ...reject.more];
  const unseen = reject.faults - faults.length;
  const lines = faults.map(
    ({ column, code, reason }) =>
      html`<li>${column === null ? nothing : html`<b>${column}</b> `}<code>${code}</code> ${reason}</li>`,
  );
  return html`<article class="reject">
    <h3>
      ${linesOf(reject.file, reject.line, reject.lastLine)}
      <span class="dim"
        >${reject.table}, record ${formatCount(reject.record)}, byte ${formatCount(reject.byte)}</span
      >
    </h3>
    <ul>
      ${lines}${unseen > 0 ? html`<li class="dim">and ${plural(unseen, 'more fault')}</li>` : nothing}
      ${reject.isCorrected ? html`<li class="dim">corrected since</li>` : nothing}
    </ul>
    ${fieldsOf(reject)}
  </article>`;
};

const headOf = (context: ViewContext, { run, table: name, code, column }: Chosen): Html => {
  const { href } = context;
  const isNarrowed = name !== null || code !== null || column !== null;
  const file = href(withQuery('/rejects.csv', { run: run.id, table: name }));
  return html`<p class="head">
      <a href="${href(`/runs/${run.id}`)}">Run ${run.id}</a> of <b>${run.pipeline}</b>,
      ${time(run.startedAt)}: ${plural(run.rejected, 'reject')} of ${plural(run.records, 'record')}
      (${share(run.rejected, run.records)}) <a class="button" href="${file}" download>Export as CSV</a>
    </p>
    ${isNarrowed ? html`<p class="choice">Only ${[name, column, code].filter((one) => one !== null).map((one) => badge('idle', one))} <a href="${linkOf(context, { run, table: null, code: null, column: null })}">all rejects</a></p>` : nothing}`;
};

const listOf = async (context: ViewContext, chosen: Chosen): Promise<Html> => {
  const after = readPlace(context.query.get('after'));
  const wanted = { ...chosen, after, limit: recordsShown };
  const { rejects, next } = await rejectsAfter(context.client, chosen.run.id, wanted);
  const isAll = rejects.length === recordsShown;
  const none =
    next === undefined
      ? 'There are no more rejects of this kind.'
      : 'None of the next rejects is of this kind.';
  return html`${rejects.length === 0 ? html`<p class="none">${none}</p>` : rejects.map(rejectOf)}
    <p class="choice">
      ${after === undefined ? nothing : html`<a href="${linkOf(context, chosen)}">first</a>`}
      ${next === undefined ? nothing : html`<a href="${linkOf(context, chosen, next)}" rel="next">${isAll ? `next ${recordsShown}` : 'look further'}</a>`}
    </p>`;
};

export const rejectsView: MakeView = async (context) => {
  const { client, query } = context;
  const asked = query.get('run');
  const runId = /^\d{1,15}$/.test(asked ?? '')
    ? Number(asked)
    : await newestRejectedRun(client, query.get('pipeline'));
  if (runId === undefined)
    return {
      title: 'Rejects',
      place: 'rejects',
      freshMs: calmMs,
      sections: [{ id: 'rejects', body: html`<p class="none">No run has rejects.</p>` }],
    };
  const run = await findSummary(client, runId);
  const chosen = { run, table: query.get('table'), code: query.get('code'), column: query.get('column') };
  const { kinds, total } = await faultKinds(client, runId, chosen.table, kindsShown, kindsWithin);
  const notes = [
    ...(run.rejected > kindsWithin
      ? [`Only the first ${formatCount(kindsWithin)} rejects are grouped.`]
      : []),
    ...(total > kinds.length ? [`And ${plural(total - kinds.length, 'more kind')}.`] : []),
  ];
  return {
    title: 'Rejects',
    place: 'rejects',
    freshMs: isUnderWay(run) ? busyMs : calmMs,
    sections: [
      { id: 'head', body: headOf(context, chosen) },
      {
        id: 'kinds',
        title: 'What is wrong',
        body: html`${table(kindColumns(context, chosen), kinds, { caption: 'Kinds of faults' })}
          <p class="dim">${notes.join(' ')}</p>`,
      },
      { id: 'records', title: 'Records', body: await listOf(context, chosen) },
    ],
  };
};
