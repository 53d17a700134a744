// `etl worker`: runs enqueued pipelines, and helps other workers, until it is asked to stop.

import { once } from 'node:events';
import { portMax } from '../../core/limits.ts';
import { command } from '../command.ts';
import {
  choice,
  chunkBytes,
  countFlag,
  databaseUrl,
  debug,
  defaultFolder,
  flag,
  namesFlag,
  redisPrefix,
  textFlag,
  tracing,
  workers,
} from '../inputs.ts';
import { withInterrupt } from '../interrupt.ts';
import { parseDuration } from '../parsers.ts';
import { readRedis } from '../redis.ts';
import { openServer } from '../server.ts';
import { withTracing } from '../tracing.ts';
import { visible } from '../../core/wording.ts';

export const workerCommand = command({
  name: 'worker',
  summary: 'run enqueued pipelines until stopped',
  description: 'Runs enqueued pipelines and helps other workers, until it is asked to stop.',
  takes: {
    pipelines: textFlag(
      '--pipelines <folder>',
      `folder of pipeline files; it runs nothing else; default: ${defaultFolder}`,
    ),
    databaseUrl,
    redisPrefix,
    queues: textFlag('--queues <names>', 'queues to serve, comma-separated; default: default'),
    workers,
    chunkBytes,
    waitMs: flag(
      '--wait <time>',
      'how long to wait for a server that is down, also at the start; default: 5m',
      parseDuration,
    ),
    deadlineMs: flag(
      '--stop-deadline <time>',
      'how long to finish chunks when asked to stop; default: 25s',
      parseDuration,
    ),
    port: countFlag('--health-port <port>', 'serve /health, /ready and /metrics on this port', portMax),
    host: textFlag('--health-host <host>', 'address to serve them on; default: 127.0.0.1'),
    hosts: namesFlag(
      '--health-hosts <names>',
      'names in the Host header that /metrics answers, comma-separated, beside addresses and names without a dot',
    ),
    notify: namesFlag(
      '--notify <names>',
      'variables with URLs of webhooks, comma-separated: told of failed runs and late slots',
    ),
    tracing,
    level: choice('--log-level <level>', 'lowest level to log', ['debug', 'info', 'warn', 'error']),
    debug,
  },
  help: `
A worker runs only pipelines of its own folder, by the name that \`etl enqueue\` put on the queue; it refuses a run whose
definition differs from its own. It coordinates one run at a time; otherwise it helps to load the runs of other workers.
Start any number of workers, on all machines that can read the files, with the same database and the same REDIS_URL if any.
It logs JSON on stdout. On SIGTERM or Ctrl-C it finishes the chunks in flight and hands its run over; a second signal stops
it at once.

Examples:
  $ etl worker
  $ etl worker --workers 4 --health-port 9464 --health-host 0.0.0.0
  $ REDIS_URL=redis://cache:6379 etl worker --pipelines jobs --stop-deadline 2m`,
  async act(given) {
    const { io, port, host, hosts, waitMs, deadlineMs, level = 'info' } = given;
    const redis = await readRedis(given);
    const { pino } = await import('pino');
    const logger = pino({ level }, { write: (line: string) => void io.stdout.write(visible(line, '\n')) });
    const sayStopping = (signal: string, isSecond: boolean): void =>
      logger.info({ signal }, isSecond ? 'stopping at once' : 'stopping after the chunks in flight');
    await withTracing(given, (tracer) =>
      withInterrupt(sayStopping, async ({ drain, abort }) => {
        const { config: connection } = await openServer(given);
        const { createWorker } = await import('../../worker/worker.ts');
        const { receiversIn } = await import('./receivers.ts');
        const worker = await createWorker({
          pipelines: given.pipelines ?? defaultFolder,
          workingDirectory: io.workingDirectory,
          queues: given.queues?.split(/, */),
          workers: given.workers,
          chunkBytes: given.chunkBytes,
          waitMs,
          health: port === undefined ? undefined : { port, host, hosts },
          notify: receiversIn(given.notify ?? [], io.env),
          ...redis,
          ...tracer,
          connection,
          logger,
          signal: drain,
        });
        abort.addEventListener('abort', worker.abort);
        if (!drain.aborted) await once(drain, 'abort');
        await worker.close(deadlineMs === undefined ? {} : { deadlineMs });
        logger.info({}, 'stopped');
      }),
    );
  },
});
