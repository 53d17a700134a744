// `etl run <pipeline>`: loads the files of a pipeline and publishes its tables.

import type { Command } from 'commander';
import type { ServerAddress } from '../../db/connect/address.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { chunkBytesMax, workersMax } from '../../core/limits.ts';
import type { RunResult } from '../../core/model.ts';
import type { LoadedPipeline } from '../../pipeline/load-file.ts';
import type { RunOptions } from '../../run/options.ts';
import type { Tracer } from '../../report/tracer.ts';
import type { CliCommand } from '../command.ts';
import {
  allowShrinkFlag,
  flag,
  parseChoice,
  parseCount,
  parseDuration,
  parseNames,
  readFlag,
  readPairs,
  readSwitch,
  paramFlag,
} from '../flags.ts';
import { withInterrupt } from '../interrupt.ts';
import { widthOf, type Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { paintFor } from '../paint.ts';
import { displayLogger, openDisplay, progressModes } from '../progress/display.ts';
import { readRedis, redisPrefixFlag } from '../redis.ts';
import { databaseUrlFlag, openServer, sayNewServer, type OpenedServer } from '../server.ts';
import { profileLines } from '../text/profile-text.ts';
import type { LoadedBefore } from '../text/summary.ts';
import { tracingFlag, withTracing } from '../tracing.ts';

const examples = `
Files are relative to the working directory, SQL files to the pipeline file.
A run with the files and the definition of the last published run does nothing. etl plan shows what a run would do.
The next run continues a run that was stopped or killed: it loads only the missing data.
Ctrl-C stops a run after the chunks in flight, unpublished; a second Ctrl-C stops it at once.

Examples:
  $ etl run pipelines/noaa.ts
  $ etl run pipelines/noaa.ts --workers 4 --database-url postgres://me@db.example.com/weather
  $ etl run pipelines/noaa.ts --param year=2011 --param month=3
  $ etl run pipelines/noaa.ts --full-refresh         load everything again
  $ etl run pipelines/noaa.ts --fresh                abandon an unfinished run and start over
  $ etl run pipelines/noaa.ts --allow-shrink station publish the table despite far fewer rows
  $ etl run pipelines/noaa.ts --wait 30m             wait longer for the server
  $ etl run pipelines/noaa.ts --json > events.jsonl  one event a line, for programs
  $ ETL_WORKERS=4 ETL_QUIET=1 etl run pipelines/noaa.ts`;

const readFlags = (command: Command, io: Io) => {
  const run = {
    workers: readFlag(command, 'workers', parseCount(workersMax), io),
    params: readPairs(command, 'param', io),
    chunkBytes: readFlag(command, 'chunkBytes', parseCount(chunkBytesMax), io),
    waitMs: readFlag(command, 'wait', parseDuration, io),
    fresh: readSwitch(command, 'fresh', io),
    fullRefresh: readSwitch(command, 'fullRefresh', io),
    allowShrink: readFlag(command, 'allowShrink', parseNames, io) ?? [],
    keepStaging: readSwitch(command, 'keepStaging', io),
    profile: readSwitch(command, 'profile', io),
  } satisfies RunOptions;
  const flags = {
    run,
    mode: readFlag(command, 'progress', parseChoice(progressModes), io) ?? 'auto',
    json: readSwitch(command, 'json', io),
    quiet: readSwitch(command, 'quiet', io),
    verbose: readSwitch(command, 'verbose', io),
    debug: readSwitch(command, 'debug', io),
  };
  if (flags.quiet && flags.verbose)
    throw new EtlError('ETL_USAGE', {
      problem: '--quiet and --verbose contradict each other',
      hint: 'Leave one out.',
    });
  return flags;
};

type RunFlags = Omit<ReturnType<typeof readFlags>, 'run'> & { readonly run: RunOptions };

const printSummary = async (
  { result, server, before }: { result: RunResult; server: ServerAddress; before: LoadedBefore },
  io: Io,
): Promise<void> => {
  const { embeddedLines, unchangedLines } = await import('../text/end-text.ts');
  const [paint, width] = [paintFor(io.stdout, io.env), widthOf(io.stdout)];
  const lines =
    result.outcome === 'unchanged'
      ? unchangedLines(result, width)
      : (await import('../text/summary.ts')).publishedLines(result, before, width, paint);
  const profile = result.profile ? ['', ...profileLines(result.profile, result, paint)] : [];
  const embedded = server.embedded ? ['', ...embeddedLines(paint)] : [];
  io.stdout.write([...lines, ...profile, ...embedded].map((line) => `${line}\n`).join(''));
};

const stoppingText = (signal: string, isSecond: boolean): string =>
  isSecond
    ? `${signal}: stopping at once`
    : `${signal}: stopping after the chunks in flight; a second signal stops at once`;

/** Everything that a signal may stop: it ends with the summary's ingredients, or an error. */
const runShown = async (
  loaded: LoadedPipeline,
  flags: RunFlags,
  command: Command,
  io: Io,
  tracing: { readonly tracer?: Tracer },
) => {
  const { pipeline, directory, file: pipelineFile } = loaded;
  const redis = await readRedis(command, io);
  const display = openDisplay({ ...flags, pipeline: pipeline.name }, io);
  const before = new Map<string, number>();
  let opened: OpenedServer | undefined;
  const sayStopping = (signal: string, isSecond: boolean): void =>
    display.note(stoppingText(signal, isSecond));
  try {
    return await withInterrupt(sayStopping, async ({ abort: signal, drain }) => {
      const server = await openServer(command, io, display.note);
      opened = server;
      const { runPipeline } = await import('../../run/run-pipeline.ts');
      drain.throwIfAborted();
      const result = await runPipeline(pipeline, {
        ...flags.run,
        ...tracing,
        ...redis,
        connection: server.config,
        pipelineFile,
        directory,
        workingDirectory: io.workingDirectory,
        signal,
        drain,
        onEvent: (event) => {
          if (event.type === 'progress')
            before.set(event.table, Math.min(before.get(event.table) ?? Infinity, event.records));
          display.event(event);
        },
        logger: displayLogger(display, flags),
      });
      return { result, server, before };
    });
  } catch (error) {
    display.close();
    sayNewServer(opened, io);
    throw error;
  } finally {
    display.close();
  }
};

/** Runs the pipeline of a file; `asked` are its files that are to be loaded again, or to leave. */
export const runFile = async (
  file: string,
  command: Command,
  io: Io,
  asked: Pick<RunOptions, 'reload' | 'unload'> = {},
): Promise<void> => {
  const read = readFlags(command, io);
  const flags = { ...read, run: { ...read.run, ...asked } };
  const loaded = await loadPipeline(file, io);
  // A wrong parameter is reported before a server is started for it.
  const { bindPipeline } = await import('../../pipeline/bind.ts');
  bindPipeline(loaded.pipeline, { params: flags.run.params ?? {}, directory: loaded.directory });
  const shown = await withTracing(command, io, (tracing) => runShown(loaded, flags, command, io, tracing));
  if (!flags.quiet && !flags.json) await printSummary(shown, io);
};

/** What every command that runs a pipeline takes. */
export const withRunFlags = (command: Command): Command =>
  command
    .addOption(databaseUrlFlag())
    .addOption(redisPrefixFlag())
    .addOption(flag('--workers <n>', 'number of parallel loads; default: the number of cores'))
    .addOption(paramFlag())
    .addOption(flag('--fresh', 'abandon an unfinished run of this pipeline instead of continuing it'))
    .addOption(
      flag(
        '--wait <time>',
        'how long to wait for a lost server; if given, also for the first connection; default: 5m',
      ),
    )
    .addOption(
      flag(
        '--chunk-bytes <n>',
        'source bytes per transaction; default: 33554432; several workers: at most 8 MiB of a stream',
      ),
    )
    .addOption(flag('--full-refresh', 'load everything again, even if nothing has changed'))
    .addOption(allowShrinkFlag())
    .addOption(flag('--profile', 'print where the time went afterwards; uses one more connection'))
    .addOption(tracingFlag())
    .addOption(flag('--keep-staging', 'keep the staging tables for inspection'))
    .addOption(flag('--progress <how>', 'how to show progress on stderr', progressModes))
    .addOption(flag('--json', 'print every event as one line of JSON on stdout'))
    .addOption(flag('-q, --quiet', 'print only errors'))
    .addOption(flag('-v, --verbose', 'print more details'))
    .addOption(flag('--debug', 'print stack traces and causes of errors, and all log messages'));

export const runCommand: CliCommand = {
  name: 'run',
  register(program, io) {
    withRunFlags(program.command('run'))
      .summary('load the files of a pipeline and publish its tables')
      .description('Loads the files of a pipeline and publishes its tables, all at once or not at all.')
      .addArgument(pipelineArgument())
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => runFile(file, command, io));
  },
};
