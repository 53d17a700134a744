// `etl worker`: runs enqueued pipelines, and helps other workers, until it is asked to stop.

import { once } from 'node:events';
import type { Receiver } from '../../core/notification.ts';
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
import type { Io } from '../io.ts';
import { parseDuration } from '../parsers.ts';
import { readRedis } from '../redis.ts';
import { openServer } from '../server.ts';
import { withTracing } from '../tracing.ts';
import { visible } from '../../core/wording.ts';

/** Returns, for `--notify HOOK`, a webhook to the URL in HOOK, signed if HOOK_SECRET is set. */
const receiversOf = async (names: readonly string[] = [], io: Io): Promise<readonly Receiver[]> => {
  const { env } = await import('../../pipeline/declare/env.ts');
  const { webhook } = await import('../../pipeline/declare/notify.ts');
  return names.map((name) => {
    const secret = `${name}_SECRET`;
    return webhook(env(name), io.env[secret] ? { secret: env(secret) } : {});
  });
};

export const workerCommand = command({
  name: 'worker',
  summary: 'run enqueued pipelines until stopped',
  description: 'Runs enqueued pipelines and helps other workers, until it is asked to stop.',
  takes: {
    pipelines: textFlag(
      '--pipelines <folder>',
      `folder of the pipelines that it may run; default: ${defaultFolder}`,
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
      'how long it may finish chunks after a signal to stop; default: 25s',
      parseDuration,
    ),
    port: countFlag('--health-port <port>', 'serve /health, /ready and /metrics on this port', portMax),
    host: textFlag('--health-host <host>', 'address to serve them on; default: 127.0.0.1'),
    hosts: namesFlag(
      '--health-hosts <names>',
      'host names (comma-separated) under which /metrics answers, beside addresses and names without a dot',
    ),
    notify: namesFlag(
      '--notify <names>',
      'variables (comma-separated) with URLs of webhooks, which are told of failed runs and late slots',
    ),
    tracing,
    level: choice('--log-level <level>', 'lowest level to log', ['debug', 'info', 'warn', 'error']),
    debug,
  },
  help: `
Runs only pipelines of its folder, and refuses a run that was enqueued with another definition. Coordinates one run at a time;
otherwise helps to load the runs of other workers. Start any number of workers, on all machines that can read the files, with the
same database and the same REDIS_URL if any.
Logs JSON on stdout. On SIGTERM or Ctrl-C, finishes the chunks in flight and hands its run over; a second signal stops it at once.

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
        const { loadCatalog } = await import('../../worker/catalog.ts');
        const pipelines = given.pipelines ?? defaultFolder;
        // Before an embedded server is set up: a wrong folder must leave no trace.
        await loadCatalog(pipelines);
        const { config: connection } = await openServer(given);
        const { createWorker } = await import('../../worker/worker.ts');
        const worker = await createWorker({
          pipelines,
          workingDirectory: io.workingDirectory,
          queues: given.queues?.split(/, */),
          workers: given.workers,
          chunkBytes: given.chunkBytes,
          waitMs,
          health: port === undefined ? undefined : { port, host, hosts },
          notify: await receiversOf(given.notify, io),
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
