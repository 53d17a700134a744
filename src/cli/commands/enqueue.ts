// `etl enqueue <pipeline>`: puts a run on the queue for a worker.

import { runPriorityMax } from '../../core/limits.ts';
import { command } from '../command.ts';
import {
  allowShrink,
  countFlag,
  databaseUrl,
  flag,
  printing,
  params,
  pipelineArgument,
  redisPrefix,
  textFlag,
  toggle,
  tracing,
} from '../inputs.ts';
import { parseTime } from '../parsers.ts';
import { openPipeline } from '../pipeline.ts';
import { readRedis } from '../redis.ts';
import { openServer } from '../server.ts';
import { withTracing } from '../tracing.ts';

export const enqueueCommand = command({
  name: 'enqueue',
  summary: 'put a run on the queue for a worker',
  description: 'Puts a run of a pipeline on the queue for a worker.',
  takes: {
    file: pipelineArgument,
    databaseUrl,
    redisPrefix,
    params,
    at: flag('--at <time>', 'earliest start, in ISO 8601; default: now', parseTime),
    priority: countFlag(
      '--priority <n>',
      '1 is the highest; runs without a priority come before all of these',
      runPriorityMax,
    ),
    dedupe: textFlag('--dedupe <key>', 'add no run if a run with this key is waiting or running'),
    queue: textFlag('--queue <name>', 'queue to use; default: default'),
    fresh: toggle('--fresh', 'abandon an unfinished run of this pipeline instead of continuing it'),
    fullRefresh: toggle('--full-refresh', 'load everything again, even if nothing has changed'),
    allowShrink,
    tracing,
    ...printing(),
  },
  help: `
The queue stores the pipeline's name, parameters and definition hash: the worker must have the same definition.

Examples:
  $ etl enqueue noaa                        the same as pipelines/noaa.ts
  $ etl enqueue pipelines/noaa.ts --param year=2011 --at 2026-05-01T03:00:00Z
  $ etl enqueue pipelines/noaa.ts --dedupe noaa      unless a run with this key is waiting or running
  $ etl enqueue pipelines/noaa.ts --json | jq -r .job`,
  async act(given) {
    const { at, priority, dedupe, queue, fresh, fullRefresh } = given;
    const { pipeline, options } = await openPipeline(given);
    const { enqueue } = await import('../../worker/enqueue.ts');
    const { config: connection } = await openServer(given);
    const redis = await readRedis(given);
    const wanted = { at, priority, dedupe, queue, fresh, fullRefresh, allowShrink: given.allowShrink };
    const site = { connection, ...redis };
    const added = await withTracing(given, (tracer) =>
      enqueue(pipeline, { ...options, ...wanted, ...site, ...tracer }),
    );
    const { job, isNew } = added;
    return {
      json: [{ ...added, pipeline: pipeline.name }],
      lines: () => [
        isNew
          ? `Enqueued ${pipeline.name} as ${job}`
          : `A run with the key ${dedupe} is already waiting or running: ${job}`,
      ],
    };
  },
});
