// `etl run <pipeline>`: loads the files of a pipeline and publishes its tables.

import { parse } from 'node:path';
import type { ServerAddress } from '../../db/connect/address.ts';
import { asEtlError, EtlError, exitCodes } from '../../core/errors/errors.ts';
import type { RunResult } from '../../core/model.ts';
import type { Receiver } from '../../core/notification.ts';
import type { LoadedPipeline } from '../../pipeline/load-file.ts';
import type { RunOptions } from '../../run/options.ts';
import type { Tracer } from '../../report/tracer.ts';
import { command, EndWith, type Given } from '../command.ts';
import {
  allowShrink,
  choice,
  chunkBytes,
  databaseUrl,
  flag,
  params,
  pipelineArgument,
  redisPrefix,
  toggle,
  tracing,
  workers,
} from '../inputs.ts';
import { withInterrupt } from '../interrupt.ts';
import { widthOf, type Io } from '../io.ts';
import { parseDuration } from '../parsers.ts';
import { loadPipeline } from '../pipeline.ts';
import { paintFor } from '../paint.ts';
import { displayLogger, openDisplay, progressModes } from '../text/display.ts';
import { readRedis } from '../redis.ts';
import { openServer, sayNewServer, type OpenedServer } from '../server.ts';
import { recordEarly } from '../record-early.ts';
import { profileLines } from '../text/profile-text.ts';
import type { LoadedBefore } from '../text/summary.ts';
import { withTracing } from '../tracing.ts';

export const runFlags = {
  databaseUrl,
  redisPrefix,
  workers,
  params,
  fresh: toggle('--fresh', 'abandon an unfinished run of this pipeline instead of continuing it'),
  waitMs: flag(
    '--wait <time>',
    'how long to wait for a lost server; if given, also for the first connection; default: 5m',
    parseDuration,
  ),
  chunkBytes,
  fullRefresh: toggle('--full-refresh', 'load everything again, even if nothing has changed'),
  allowShrink,
  profile: toggle('--profile', 'print at the end where the time went; uses one more connection'),
  tracing,
  keepStaging: toggle('--keep-staging', 'keep the staging tables for inspection'),
  progress: choice('--progress <how>', 'how to show progress on stderr', progressModes),
  json: toggle('--json', 'print every event as one line of JSON on stdout'),
  quiet: toggle('-q, --quiet', 'print only errors'),
  verbose: toggle('-v, --verbose', 'print more details'),
  debug: toggle('--debug', 'print stack traces and causes of errors, and all log messages'),
};

export type GivenRun = Given<typeof runFlags>;

type GivenFile = GivenRun & { readonly file: string };

const optionsOf = (given: GivenRun): RunOptions => {
  const { fresh, waitMs, fullRefresh, keepStaging, profile } = given;
  const size = { workers: given.workers, chunkBytes: given.chunkBytes };
  const asked = { params: given.params, fresh, fullRefresh, allowShrink: given.allowShrink ?? [] };
  return { ...size, ...asked, waitMs, keepStaging, profile };
};

const printSummary = async (
  { result, server, before }: { result: RunResult; server: ServerAddress; before: LoadedBefore },
  isLoad: boolean,
  io: Io,
): Promise<void> => {
  const [paint, width] = [paintFor(io.stdout, io.env), widthOf(io.stdout)];
  const { embeddedLines, publishedLines, unchangedLines } = await import('../text/summary.ts');
  const lines =
    result.outcome === 'unchanged'
      ? unchangedLines(result, width, isLoad)
      : publishedLines(result, before, width, paint);
  const profile = result.profile ? ['', ...profileLines(result.profile, result, paint)] : [];
  const embedded = server.embedded ? ['', ...embeddedLines(paint)] : [];
  io.stdout.write([...lines, ...profile, ...embedded].map((line) => `${line}\n`).join(''));
};

/** Names the files held back, also with --quiet: they are why the exit code is not 0. */
const printHeld = async (result: RunResult, stream: Io['stdout'], { env }: Io): Promise<void> => {
  const { heldLines } = await import('../text/summary.ts');
  const lines = heldLines(result, widthOf(stream), paintFor(stream, env));
  stream.write(lines.map((line) => `${line}\n`).join(''));
};

const stoppingText = (signal: string, isSecond: boolean): string =>
  isSecond
    ? `${signal}: stopping at once`
    : `${signal}: stopping after the chunks in flight; a second signal stops at once`;

/** A pipeline and where it is from. That of `etl load` may have no file. */
type RunnablePipeline = Omit<LoadedPipeline, 'file'> & {
  readonly file: string | undefined;
  readonly isLoad?: true;
};

/** Runs the pipeline and shows its progress. A signal stops everything in this function. */
const runShown = async (
  { pipeline, directory, file: pipelineFile }: RunnablePipeline,
  options: RunOptions,
  given: GivenRun,
  tracer: { readonly tracer?: Tracer },
) => {
  const { io, progress = 'auto' } = given;
  const redis = await readRedis(given);
  const display = openDisplay({ ...given, mode: progress, pipeline: pipeline.name }, io);
  const before = new Map<string, number>();
  let opened: OpenedServer | undefined;
  const sayStopping = (signal: string, isSecond: boolean): void =>
    display.note(stoppingText(signal, isSecond));
  try {
    return await withInterrupt(sayStopping, async ({ abort: signal, drain }) => {
      const server = await openServer(given, display.note);
      opened = server;
      const { runPipeline } = await import('../../run/run-pipeline.ts');
      drain.throwIfAborted();
      const result = await runPipeline(pipeline, {
        ...options,
        ...tracer,
        ...redis,
        connection: server.config,
        ...(pipelineFile !== undefined && { pipelineFile }),
        directory,
        workingDirectory: io.workingDirectory,
        signal,
        drain,
        onEvent: (event) => {
          if (event.type === 'progress')
            before.set(event.table, Math.min(before.get(event.table) ?? Infinity, event.records));
          display.event(event);
        },
        logger: displayLogger(display, given),
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

/** Loads the pipeline, and checks its parameters before an embedded server is started. */
const prepare = async (given: GivenFile): Promise<LoadedPipeline> => {
  let pipeline = parse(given.file).name;
  let receivers: readonly Receiver[] = [];
  try {
    const loaded = await loadPipeline(given.file, given.io);
    ({ name: pipeline, notify: receivers = [] } = loaded.pipeline);
    const { bindPipeline } = await import('../../pipeline/bind.ts');
    bindPipeline(loaded.pipeline, { params: given.params, directory: loaded.directory });
    return loaded;
  } catch (thrown) {
    const error = asEtlError(thrown);
    await recordEarly(given, pipeline, error, receivers);
    throw error;
  }
};

export const refuseContradiction = ({ quiet, verbose }: Pick<GivenRun, 'quiet' | 'verbose'>): void => {
  if (quiet && verbose)
    throw new EtlError('ETL_USAGE', {
      problem: '--quiet and --verbose contradict each other',
      hint: 'Leave one out.',
    });
};

/** Runs a pipeline file. `asked`: source files to load again, or whose rows to delete. */
export const runFile = async (
  given: GivenFile,
  asked: Pick<RunOptions, 'reload' | 'unload'> = {},
): Promise<void> => {
  refuseContradiction(given);
  await runLoaded(await prepare(given), given, asked);
};

/** Runs a pipeline, and prints the summary. */
export const runLoaded = async (
  loaded: RunnablePipeline,
  given: GivenRun,
  asked: Pick<RunOptions, 'reload' | 'unload' | 'again'> = {},
): Promise<void> => {
  const options = { ...optionsOf(given), ...asked };
  const shown = await withTracing(given, (tracer) => runShown(loaded, options, given, tracer));
  if (!given.quiet && !given.json) await printSummary(shown, loaded.isLoad === true, given.io);
  if (shown.result.held === undefined) return;
  if (!given.json) await printHeld(shown.result, given.quiet ? given.io.stderr : given.io.stdout, given.io);
  throw new EndWith(exitCodes.held);
};

export const runCommand = command({
  name: 'run',
  summary: 'load the files of a pipeline and publish its tables',
  description: 'Loads the files of a pipeline and publishes its tables, all at once or not at all.',
  takes: { file: pipelineArgument, ...runFlags },
  help: `
Paths of source files are relative to the working directory, paths of SQL files to the pipeline file.
Does nothing if files and definition are those of the last published run. \`etl plan\` shows what a run would do.
Continues a run that was stopped or killed: loads only the missing data.
Ctrl-C stops after the chunks in flight, without publishing; a second Ctrl-C stops at once.

Examples:
  $ etl run pipelines/noaa.ts
  $ etl run pipelines/noaa.ts --workers 4 --database-url postgres://me@db.example.com/weather
  $ etl run pipelines/noaa.ts --param year=2011 --param month=3
  $ etl run pipelines/noaa.ts --full-refresh         load everything again
  $ etl run pipelines/noaa.ts --fresh                abandon an unfinished run and start over
  $ etl run pipelines/noaa.ts --allow-shrink station publish the table despite far fewer rows
  $ etl run pipelines/noaa.ts --wait 30m             wait longer for the server
  $ etl run pipelines/noaa.ts --json > events.jsonl  one event a line, for programs
  $ ETL_WORKERS=4 ETL_QUIET=1 etl run pipelines/noaa.ts`,
  act: (given) => runFile(given),
});
