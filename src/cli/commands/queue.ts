// `etl queue` shows the queues of runs. `etl cancel <run>` and `etl retry <run>` change one run.

import { command } from '../command.ts';
import type { QueueDepth } from '../../queue/run-queue-state.ts';
import {
  allowShrink,
  databaseUrl,
  printing,
  redisPrefix,
  runArgument,
  textFlag,
  tracing,
} from '../inputs.ts';
import { readRedis } from '../redis.ts';
import { openKnownServer } from '../server.ts';
import { withTracing } from '../tracing.ts';

const depthText = ({ waiting, delayed, active, failed, isPaused, oldestAt }: QueueDepth): string => {
  const oldest = oldestAt === null ? '' : `; the oldest since ${oldestAt.toISOString()}`;
  return `${waiting} waiting, ${delayed} delayed, ${active} active, ${failed} failed${oldest}${isPaused ? '; paused' : ''}`;
};

const common = { databaseUrl, redisPrefix, ...printing() };

export const queueCommand = command({
  name: 'queue',
  summary: 'show how many runs are waiting, and since when',
  description: 'Shows how many enqueued runs are waiting, active or failed.',
  takes: { ...common, queue: textFlag('--queue <name>', 'one queue; default: all queues') },
  help: '\nExamples:\n  $ etl queue\n  $ etl queue --json | jq .waiting',
  async act(given) {
    const { queueState } = await import('../../worker/enqueue.ts');
    const { failureLines } = await import('../text/status-text.ts');
    const { config: connection } = await openKnownServer(given);
    const state = await queueState({ connection, ...(await readRedis(given)), queue: given.queue });
    const { queues, failures } = state;
    return {
      json: [state],
      lines: ({ paint }) => [
        ...queues.map((each) => (queues.length === 1 ? '' : `${each.queue}: `) + depthText(each)),
        ...failureLines(failures, paint),
      ],
    };
  },
});

const runExamples = (name: string): string => `\nExamples:\n  $ etl ${name} 12\n  $ etl ${name} 12 --json`;

export const cancelCommand = command({
  name: 'cancel',
  summary: 'stop a run, on any machine',
  description: 'Stops a run on any machine, at the next chunk or step; nothing is published.',
  takes: { ...common, run: runArgument },
  help: runExamples('cancel'),
  async act(given) {
    const { run } = given;
    const { cancel } = await import('../../worker/enqueue.ts');
    const redis = await readRedis(given);
    await cancel(run, { connection: (await openKnownServer(given)).config, ...redis });
    return {
      json: [{ run, state: 'cancelled' }],
      lines: () => [`Cancelled run ${run}; its processes stop at the next chunk or step`],
    };
  },
});

export const retryCommand = command({
  name: 'retry',
  summary: 'enqueue a run that failed or was cancelled',
  description: 'Puts a run that failed or was cancelled on the queue again; it continues where it stopped.',
  takes: { allowShrink, tracing, ...common, run: runArgument },
  help: runExamples('retry'),
  async act(given) {
    const { run } = given;
    const { retry } = await import('../../worker/enqueue.ts');
    const { config: connection } = await openKnownServer(given);
    const options = { connection, allowShrink: given.allowShrink ?? [], ...(await readRedis(given)) };
    const added = await withTracing(given, (tracer) => retry(run, { ...options, ...tracer }));
    return {
      json: [{ run, ...added }],
      lines: () => [`Enqueued run ${run} again as ${added.job}; it continues where it stopped`],
    };
  },
});
