// The page of queues: their jobs, and the processes with sessions on the server.

import { listProcesses, type ProcessAtWork } from '../../ledger/history/processes.ts';
import type { QueuesSeen } from '../../worker/queues.ts';
import { formatCount } from '../../core/wording.ts';
import { failuresShown, listFailures } from '../../ledger/run/failure.ts';
import { failureSections } from '../parts/failures.ts';
import { aged, html, time } from '../parts/html.ts';
import { badge, type Tone } from '../parts/state.ts';
import { tableSection, type Column } from '../parts/table.ts';
import { busyMs, calmMs, type MakeView } from '../parts/view.ts';

type Depth = QueuesSeen['queues'][number];
type Job = QueuesSeen['jobs'][number];

const depthColumns: readonly Column<Depth>[] = [
  {
    title: 'Queue',
    cell: ({ queue, isPaused }) => (isPaused ? html`${queue} ${badge('warn', 'paused')}` : queue),
  },
  { title: 'Waiting', cell: ({ waiting }) => formatCount(waiting), isNumber: true },
  { title: 'Delayed', cell: ({ delayed }) => formatCount(delayed), isNumber: true },
  { title: 'Active', cell: ({ active }) => formatCount(active), isNumber: true },
  { title: 'Failed', cell: ({ failed }) => formatCount(failed), isNumber: true },
  { title: 'Oldest waiting', cell: ({ oldestAt }) => (oldestAt === null ? '–' : aged(oldestAt)) },
];

const toneOf: Readonly<Record<Job['state'], Tone>> = {
  active: 'busy',
  waiting: 'idle',
  delayed: 'warn',
  failed: 'bad',
};

const jobColumns: readonly Column<Job>[] = [
  { title: 'Job', cell: ({ job }) => job, isLong: true },
  { title: 'Queue', cell: ({ queue }) => queue },
  { title: 'Pipeline', cell: ({ pipeline }) => pipeline ?? 'unknown' },
  { title: 'State', cell: ({ state }) => badge(toneOf[state], state) },
  { title: 'Added', cell: ({ addedAt }) => time(addedAt) },
  { title: 'Attempts', cell: ({ attempts }) => formatCount(attempts), isNumber: true },
];

const processColumns: readonly Column<ProcessAtWork>[] = [
  { title: 'Process', cell: ({ isWorker }) => (isWorker ? 'worker' : 'run or program') },
  { title: 'Tag', cell: ({ tag }) => html`<code>${tag}</code>` },
  {
    title: 'Pipelines',
    cell: ({ pipelines }) =>
      pipelines.length === 0 ? html`<span class="dim">idle</span>` : pipelines.join(', '),
    isLong: true,
  },
  { title: 'Sessions', cell: ({ sessions }) => formatCount(sessions), isNumber: true },
  { title: 'Active', cell: ({ active }) => formatCount(active), isNumber: true },
  { title: 'From', cell: ({ address }) => address ?? 'this machine' },
  { title: 'Since', cell: ({ since }) => aged(since) },
];

export const queueView: MakeView = async (context) => {
  const processes = await listProcesses(context.client);
  const failures = await listFailures(context.client, { limit: failuresShown });
  const found = await context.queues();
  const { queues = [], jobs = [] } = found ?? {};
  const noQueue = 'No run was enqueued on this database yet.';
  const noProcess = 'No process of sluice is connected to this database.';
  return {
    title: 'Queue and workers',
    place: 'queue',
    freshMs: jobs.some(({ state }) => state !== 'failed') || processes.length > 0 ? busyMs : calmMs,
    sections: [
      tableSection('queues', 'Queues of runs', depthColumns, queues, noQueue),
      tableSection('jobs', 'Jobs', jobColumns, jobs, 'No job is waiting or active.'),
      tableSection('processes', 'Processes at work', processColumns, processes, noProcess),
      ...failureSections('Failures before a run began', failures, context),
    ],
  };
};
