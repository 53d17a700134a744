// The page of one run: its progress, chunks, throughput, published tables and error.

import { formatBytes, formatRate, formatSeconds } from '../../core/amounts.ts';
import type { DataTestResult } from '../../core/data-test.ts';
import { chunkMapOf, filesOfMap, type ChunkMap } from '../../ledger/history/chunk-map.ts';
import {
  findRun,
  type FileSummary,
  type RunDetails,
  type RunSummary,
  type TableSummary,
} from '../../ledger/history/history.ts';
import { sessionsOf, timelineOf, type Timeline } from '../../ledger/history/timeline.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { share } from '../parts/amount.ts';
import { chunkMap, colourings, type Colouring } from '../parts/chunk-map.ts';
import { aged, fact, html, nothing, time, type Html } from '../parts/html.ts';
import { pagesOf, readFirst } from '../parts/pages.ts';
import { logOf } from '../parts/log.ts';
import { planSections } from '../parts/plan.ts';
import { fileColumnsOf, tableColumns, type RunColumn } from '../../report/run-columns.ts';
import { hintOf, isUnderWay, lossOf } from '../../report/run-words.ts';
import { badge, stateBadge } from '../parts/state.ts';
import { errorBody } from '../parts/error-page.ts';
import { table, tableSection, type Column } from '../parts/table.ts';
import { throughputChart } from '../parts/throughput.ts';
import { timelineChart } from '../parts/timeline.ts';
import { busyMs, calmMs, withQuery, type MakeView, type Section, type ViewContext } from '../parts/view.ts';

const losses = {
  'process gone':
    'The process of the run has ended without a word: it was killed, or its machine was restarted.',
  'not connected':
    'The process of the run, on another machine, has no connection to this database: it was killed, or it is connecting again.',
};
const lossHint = 'Nothing was published. The next run of the pipeline continues this run.';

/** The error of a run, and its log; undefined if it has no error. */
const errorSection = (found: RunDetails, log: Html, { href }: ViewContext): Section | undefined => {
  const { run } = found;
  const { id, errorCode, error, finishedAt } = run;
  const loss = lossOf(run);
  if (errorCode === null && error === null && loss === undefined) return undefined;
  const about = `run ${id} of ${run.pipeline}, started ${run.startedAt.toISOString()} on ${run.host}`;
  const hint = found.hint ?? hintOf(errorCode, id) ?? '';
  const shown =
    loss === undefined
      ? { code: errorCode ?? '', message: error ?? '', hint }
      : { code: loss, message: losses[loss], hint: lossHint };
  return {
    id: 'error',
    body: html`<p>${stateBadge(run)} ${finishedAt === null ? nothing : aged(finishedAt)}</p>
      ${errorBody(shown, href, { about, json: { run } })}
      <h2 id="log">Log</h2>
      ${log}`,
  };
};

const traceOf = (traceId: string, { traceLink }: ViewContext): Html =>
  traceLink === undefined
    ? html`<code>${traceId}</code>`
    : html`<a href="${traceLink(traceId)}" rel="noreferrer"><code>${traceId}</code></a>`;

const factsOf = (
  { run, traceId }: Pick<RunDetails, 'run' | 'traceId'>,
  sessions: readonly number[],
  context: ViewContext,
): Html => {
  const { href, now } = context;
  const seconds = run.seconds ?? (now.getTime() - run.startedAt.getTime()) / 1000;
  return html`<dl class="facts">
    ${fact('State', stateBadge(run))}
    ${fact('Pipeline', html`<a href="${href(withQuery('/runs', { pipeline: run.pipeline }))}">${run.pipeline}</a>`)}
    ${fact('Started', time(run.startedAt))} ${fact('Finished', time(run.finishedAt))}
    ${fact('Time', formatSeconds(seconds))} ${fact('Records', formatCount(run.records))}
    ${fact('Records per second', formatRate(run.records, seconds))}
    ${fact('Rejected', run.rejected === 0 ? '0' : html`<a href="${href(`/rejects?run=${run.id}`)}">${formatCount(run.rejected)}</a> (${share(run.rejected, run.records)})`)}
    ${fact('Filtered', formatCount(run.filtered))}
    ${fact('Files', `${formatCount(run.files)}, ${formatBytes(run.bytes)}`)}
    ${fact('Process', `${run.pid} on ${run.host}`)}
    ${fact('Workers', sessions.length > 0 ? `${run.workers} asked for, ${plural(sessions.length, 'session')}` : run.workers)}
    ${traceId === null ? nothing : fact('Trace', traceOf(traceId, context))}
  </dl>`;
};

const longTitles = new Set(['file', 'format', 'published by']);

const columnsOf = <Row>(columns: readonly RunColumn<Row>[]): readonly Column<Row>[] =>
  columns.map(({ title, text, isNumber }) => ({
    title: title.slice(0, 1).toUpperCase() + title.slice(1),
    cell: text,
    isNumber,
    isLong: longTitles.has(title),
  }));

const publishedColumns: readonly Column<TableSummary>[] = [
  ...columnsOf(tableColumns),
  { title: 'Time', cell: ({ seconds }) => (seconds === null ? '–' : formatSeconds(seconds)), isNumber: true },
];

const filesListed = 200;

const outcomes = { passed: 'good', warned: 'warn', failed: 'bad' } as const;

const testColumns: readonly Column<DataTestResult>[] = [
  { title: 'Test', cell: ({ test }) => test },
  { title: 'Table', cell: (one) => one.table },
  { title: 'Outcome', cell: ({ outcome }) => badge(outcomes[outcome], outcome) },
  { title: 'Failures', cell: ({ failures }) => formatCount(failures), isNumber: true },
  { title: 'Problem', cell: ({ problem }) => problem ?? '', isLong: true },
];

interface Choice {
  readonly by: Colouring;
  readonly map: number;
  readonly files: number;
}

const readChoice = (query: URLSearchParams): Choice => ({
  by: colourings.find((choice) => choice === query.get('by')) ?? 'state',
  map: readFirst(query.get('map')),
  files: readFirst(query.get('files')),
});

const linkOf = (
  run: RunSummary,
  { href }: ViewContext,
  { by, map, files }: Choice,
  section: string,
): string => {
  const query = { by: by !== 'state' && by, map, files };
  return `${href(withQuery(`/runs/${run.id}`, query))}#${section}`;
};

const mapOf = (
  run: RunSummary,
  map: ChunkMap,
  timeline: Timeline,
  choice: Choice,
  context: ViewContext,
): Html => {
  const { epoch, crashes } = timeline.times;
  const coloured = { ...map, by: choice.by, sessions: sessionsOf(timeline), epoch, crashes };
  const linkTo = (changed: Partial<Choice>): string => linkOf(run, context, { ...choice, ...changed }, 'map');
  const range = { first: choice.map, shown: map.files.length, size: filesOfMap, total: run.files };
  const pages = pagesOf({ what: 'files', ...range }, (first) => linkTo({ map: first }));
  return chunkMap(coloured, (by) => linkTo({ by }), pages);
};

const filesOf = (
  run: RunSummary,
  files: readonly FileSummary[],
  choice: Choice,
  context: ViewContext,
): Html => {
  const range = { first: choice.files, shown: files.length, size: filesListed, total: run.files };
  const none = `Run ${run.id} has fewer than ${formatCount(choice.files + 1)} files.`;
  return html`${table(columnsOf(fileColumnsOf(files)), files, { caption: 'Files', none })}
  ${pagesOf({ what: 'files', ...range }, (first) => linkOf(run, context, { ...choice, files: first }, 'files'))}`;
};

/** A chart of a shorter run shows the size of its chunks, not its speed. */
const chartSecondsMin = 2;
const isLongEnough = ({ seconds, stretches }: Timeline): boolean => seconds * stretches >= chartSecondsMin;

export const runView: MakeView = async (context) => {
  const { client, href, query } = context;
  const runId = Number(context.parts[0]);
  const choice = readChoice(query);
  const found = await findRun(client, runId, { first: choice.files, limit: filesListed });
  const { run, tables, files, tests, advice } = found;
  const map = await chunkMapOf(client, runId, choice.map);
  const timeline = await timelineOf(client, runId);
  const log = logOf(found, timeline.times);
  const error = errorSection(found, log, context);
  const optional = (isThere: boolean, section: () => Section): Section[] => (isThere ? [section()] : []);
  return {
    title: `Run ${run.id} of ${run.pipeline}`,
    place: 'runs',
    freshMs: isUnderWay(run) ? busyMs : calmMs,
    sections: [
      ...(error === undefined ? [] : [error]),
      { id: 'facts', body: factsOf(found, sessionsOf(timeline), context) },
      ...optional(error === undefined, () => ({ id: 'log', title: 'Log', body: log })),
      { id: 'map', title: 'Chunks', body: mapOf(run, map, timeline, choice, context) },
      { id: 'time', title: 'Time', body: timelineChart(timeline) },
      ...optional(advice.length > 0, () => ({
        id: 'advice',
        title: 'Where the time went',
        body: html`<ul>
          ${advice.map((sentence) => html`<li>${sentence}</li>`)}
        </ul>`,
      })),
      ...optional(timeline.work.length > 0 && isLongEnough(timeline), () => ({
        id: 'throughput',
        title: 'Throughput',
        body: throughputChart(timeline, href('/assets/chart.js')),
      })),
      tableSection('tables', 'Tables', publishedColumns, tables),
      ...optional(tests.length > 0, () => tableSection('tests', 'Data tests', testColumns, tests)),
      ...optional(run.files > 0, () => ({
        id: 'files',
        title: 'Files',
        body: filesOf(run, files, choice, context),
      })),
      ...planSections(found),
    ],
  };
};
