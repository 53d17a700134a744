// The queues of runs, with waiting and active jobs, and the processes that have sessions on the server.

import { failuresShown, listFailures } from '../../ledger/run/failure.ts';
import { listProcesses, type ProcessAtWork } from '../../ledger/history/processes.ts';
import type { RunFailure } from '../../core/model.ts';
import type { QueuesSeen } from '../../worker/read-queues.ts';
import { formatCount } from '../../core/wording.ts';
import { ago } from '../parts/amount.ts';
import { html, seen, time } from '../parts/html.ts';
import { badge, type Tone } from '../parts/state.ts';
import { table, type Column } from '../parts/table.ts';
import { busyMs, calmMs, type MakeView, type ViewContext } from '../parts/view.ts';

type Depth = QueuesSeen['queues'][number];
type Job = QueuesSeen['jobs'][number];

const depthColumns = ({ now }: ViewContext): readonly Column<Depth>[] => [
  { title: 'Queue', cell: ({ queue }) => seen(queue) },
  { title: 'Waiting', cell: ({ waiting }) => formatCount(waiting), isNumber: true },
  { title: 'Delayed', cell: ({ delayed }) => formatCount(delayed), isNumber: true },
  { title: 'Active', cell: ({ active }) => formatCount(active), isNumber: true },
  { title: 'Failed', cell: ({ failed }) => formatCount(failed), isNumber: true },
  { title: 'Oldest that waits', cell: ({ oldestAt }) => (oldestAt === null ? '–' : ago(oldestAt, now)) },
];

const toneOf: Readonly<Record<Job['state'], Tone>> = {
  active: 'busy',
  waiting: 'idle',
  delayed: 'warn',
  failed: 'bad',
};

const jobColumns: readonly Column<Job>[] = [
  { title: 'Job', cell: ({ job }) => seen(job), isLong: true },
  { title: 'Queue', cell: ({ queue }) => seen(queue) },
  { title: 'Pipeline', cell: ({ pipeline }) => seen(pipeline ?? 'unknown') },
  { title: 'State', cell: ({ state }) => badge(toneOf[state], state) },
  { title: 'Added', cell: ({ addedAt }) => time(addedAt) },
  { title: 'Begun', cell: ({ attempts }) => formatCount(attempts), isNumber: true },
];

const processColumns = ({ now }: ViewContext): readonly Column<ProcessAtWork>[] => [
  { title: 'Process', cell: ({ isWorker }) => (isWorker ? 'worker' : 'run or program') },
  { title: 'Tag', cell: ({ tag }) => html`<code>${tag}</code>` },
  {
    title: 'Pipelines',
    cell: ({ pipelines }) =>
      pipelines.length === 0 ? html`<span class="dim">idle</span>` : seen(pipelines.join(', ')),
    isLong: true,
  },
  { title: 'Sessions', cell: ({ sessions }) => formatCount(sessions), isNumber: true },
  { title: 'At work', cell: ({ active }) => formatCount(active), isNumber: true },
  { title: 'From', cell: ({ address }) => address ?? 'this machine' },
  { title: 'Since', cell: ({ since }) => ago(since, now) },
];

const failureColumns: readonly Column<RunFailure>[] = [
  { title: 'When', cell: ({ failedAt }) => time(failedAt) },
  { title: 'Queue', cell: ({ queue }) => seen(queue) },
  { title: 'Pipeline', cell: ({ pipeline }) => seen(pipeline ?? 'unknown') },
  { title: 'Code', cell: ({ errorCode }) => html`<code>${errorCode}</code>` },
  { title: 'Error', cell: ({ error }) => seen(error), isLong: true },
];

export const queueView: MakeView = async (context) => {
  const processes = await listProcesses(context.client);
  const failures = await listFailures(context.client, { limit: failuresShown });
  const found = await context.queues();
  const none = 'No process is at work on this database.';
  const queues = found?.queues ?? [];
  const jobs = found?.jobs ?? [];
  return {
    title: 'Queue and workers',
    place: 'queue',
    freshMs: jobs.some(({ state }) => state !== 'failed') || processes.length > 0 ? busyMs : calmMs,
    sections: [
      {
        id: 'queues',
        title: 'Queues of runs',
        body: table(depthColumns(context), queues, {
          caption: 'Queues of runs',
          none: 'Nothing was enqueued on this database yet.',
        }),
      },
      {
        id: 'jobs',
        title: 'Jobs',
        body: table(jobColumns, jobs, { caption: 'Jobs', none: 'No job waits or is active.' }),
      },
      {
        id: 'processes',
        title: 'Processes at work',
        body: table(processColumns(context), processes, { caption: 'Processes at work', none }),
      },
      ...(failures.length === 0
        ? []
        : [
            {
              id: 'failures',
              title: 'Failures before a run began',
              body: table(failureColumns, failures, { caption: 'Failures before a run began' }),
            },
          ]),
    ],
  };
};
