// `etl worker`: runs enqueued pipelines, and helps other workers, until it is asked to stop.

import { once } from 'node:events';
import type { Command } from 'commander';
import { chunkBytesMax, portMax, workersMax } from '../../core/limits.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseChoice, parseCount, parseDuration, parseNames, parseString, readFlag } from '../flags.ts';
import { withInterrupt } from '../interrupt.ts';
import type { Io } from '../io.ts';
import { defaultFolder } from '../pipeline.ts';
import { readRedis, redisPrefixFlag } from '../redis.ts';
import { databaseUrlFlag, openServer } from '../server.ts';
import { tracingFlag, withTracing } from '../tracing.ts';
import { visible } from '../../core/wording.ts';

const examples = `
A worker runs only pipelines of its own folder, by the name that \`etl enqueue\` put on the queue; it refuses a run whose
definition differs from its own. It coordinates one run at a time; otherwise it helps to load the runs of other workers.
Start any number of workers, on all machines that can read the files, with the same database and the same REDIS_URL if any.
It logs JSON on stdout. On SIGTERM or Ctrl-C it finishes the chunks in flight and hands its run over; a second signal stops
it at once.

Examples:
  $ etl worker
  $ etl worker --workers 4 --health-port 9464 --health-host 0.0.0.0
  $ REDIS_URL=redis://cache:6379 etl worker --pipelines jobs --stop-deadline 2m`;

const logLevels = ['debug', 'info', 'warn', 'error'] as const;

const readOptions = (command: Command, io: Io) => {
  const pipelines = readFlag(command, 'pipelines', parseString, io) ?? defaultFolder;
  const queues = readFlag(command, 'queues', parseString, io)?.split(/, */);
  const port = readFlag(command, 'healthPort', parseCount(portMax), io);
  const host = readFlag(command, 'healthHost', parseString, io);
  const hosts = readFlag(command, 'healthHosts', parseNames, io);
  const workers = readFlag(command, 'workers', parseCount(workersMax), io);
  const chunkBytes = readFlag(command, 'chunkBytes', parseCount(chunkBytesMax), io);
  const waitMs = readFlag(command, 'wait', parseDuration, io);
  return {
    pipelines,
    workingDirectory: io.workingDirectory,
    ...(queues !== undefined && { queues }),
    ...(workers !== undefined && { workers }),
    ...(chunkBytes !== undefined && { chunkBytes }),
    ...(waitMs !== undefined && { waitMs }),
    ...(port !== undefined && {
      health: { port, ...(host !== undefined && { host }), ...(hosts && { hosts }) },
    }),
  };
};

const work = async (command: Command, io: Io): Promise<void> => {
  const options = readOptions(command, io);
  const receivers = readFlag(command, 'notify', parseNames, io) ?? [];
  const redis = await readRedis(command, io);
  const deadlineMs = readFlag(command, 'stopDeadline', parseDuration, io);
  const level = readFlag(command, 'logLevel', parseChoice(logLevels), io) ?? 'info';
  const { pino } = await import('pino');
  const logger = pino({ level }, { write: (line: string) => void io.stdout.write(visible(line, '\n')) });
  const sayStopping = (signal: string, isSecond: boolean): void =>
    logger.info({ signal }, isSecond ? 'stopping at once' : 'stopping after the chunks in flight');
  await withTracing(command, io, (tracing) =>
    withInterrupt(sayStopping, async ({ drain, abort }) => {
      const { config: connection } = await openServer(command, io);
      const { createWorker } = await import('../../worker/worker.ts');
      const { receiversIn } = await import('./receivers.ts');
      const worker = await createWorker({
        ...options,
        notify: receiversIn(receivers, io.env),
        ...redis,
        ...tracing,
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
};

export const workerCommand: CliCommand = {
  name: 'worker',
  register(program, io) {
    program
      .command('worker')
      .summary('run enqueued pipelines until stopped')
      .description('Runs enqueued pipelines and helps other workers, until it is asked to stop.')
      .addOption(
        flag(
          '--pipelines <folder>',
          `folder of pipeline files; it runs nothing else; default: ${defaultFolder}`,
        ),
      )
      .addOption(databaseUrlFlag())
      .addOption(redisPrefixFlag())
      .addOption(flag('--queues <names>', 'queues to serve, comma-separated; default: default'))
      .addOption(flag('--workers <n>', 'number of parallel loads; default: the number of cores'))
      .addOption(
        flag(
          '--chunk-bytes <n>',
          'source bytes per transaction; default: 33554432; several workers: at most 8 MiB of a stream',
        ),
      )
      .addOption(
        flag('--wait <time>', 'how long to wait for a server that is down, also at the start; default: 5m'),
      )
      .addOption(flag('--stop-deadline <time>', 'how long to finish chunks when asked to stop; default: 25s'))
      .addOption(flag('--health-port <port>', 'serve /health, /ready and /metrics on this port'))
      .addOption(flag('--health-host <host>', 'address to serve them on; default: 127.0.0.1'))
      .addOption(
        flag(
          '--health-hosts <names>',
          'names in the Host header that /metrics answers, comma-separated, beside addresses and names without a dot',
        ),
      )
      .addOption(
        flag(
          '--notify <names>',
          'variables with URLs of webhooks, comma-separated: told of failed runs and late slots',
        ),
      )
      .addOption(tracingFlag())
      .addOption(flag('--log-level <level>', 'lowest level to log', logLevels))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((_, command: Command) => work(command, io));
  },
};
